#include "store/measured_stores.h"

#include <algorithm>

namespace kin::store {
namespace {

class MeasuredFingerprints final : public FingerprintStore {
 public:
  MeasuredFingerprints(FingerprintStore& store, StoreMeter& meter) : store_(store), meter_(meter) {}

  const FingerprintParameters& parameters() const override { return store_.parameters(); }
  Result<Found> find(std::span<const Fingerprint> batch) override {
    auto found = meter_.measure("find", batch.size(), [&] { return store_.find(batch); });
    if (found) meter_.note_candidates(*found);
    return found;
  }
  Result<std::vector<std::optional<Fingerprint>>> get(std::span<const DocId> ids) override {
    return meter_.measure("get", ids.size(), [&] { return store_.get(ids); });
  }
  Result<std::vector<Admission>> admit(std::span<const Fingerprint> batch, const Found& found,
                                       std::span<const std::size_t> chosen,
                                       const Judge& judge) override {
    return meter_.measure("admit", chosen.size(),
                          [&] { return store_.admit(batch, found, chosen, judge); });
  }
  Status each(const Visit& visit) override { return store_.each(visit); }
  Result<FingerprintStats> stats() override { return store_.stats(); }
  Result<std::vector<std::string>> check() override { return store_.check(); }

 private:
  FingerprintStore& store_;
  StoreMeter& meter_;
};

class MeasuredLedger final : public Ledger {
 public:
  MeasuredLedger(Ledger& ledger, StoreMeter& meter) : ledger_(ledger), meter_(meter) {}

  Result<std::vector<std::optional<LedgerEntry>>> record_processed(
      std::span<const LedgerEntry> entries) override {
    return meter_.measure("record", entries.size(),
                          [&] { return ledger_.record_processed(entries); });
  }
  Result<std::vector<std::optional<LedgerEntry>>> was_processed(
      std::span<const DocId> docs) override {
    return meter_.measure("was_processed", docs.size(),
                          [&] { return ledger_.was_processed(docs); });
  }
  Result<LedgerPage> list_by_source(std::string_view source, const ListRequest& request) override {
    return ledger_.list_by_source(source, request);
  }
  Result<LedgerPage> list_by_run(std::string_view run, const ListRequest& request) override {
    return ledger_.list_by_run(run, request);
  }
  Status each(const Visit& visit) override { return ledger_.each(visit); }

 private:
  Ledger& ledger_;
  StoreMeter& meter_;
};

}  // namespace

void StoreMeter::note(const char* name, std::size_t items, double seconds, bool ok) {
  const std::scoped_lock lock(mutex_);
  CallFigures& figures = figures_.calls[name];
  ++figures.calls;
  figures.failures += ok ? 0 : 1;
  figures.items += items;
  figures.seconds += seconds;
  const auto at = std::lower_bound(kCallSeconds.begin(), kCallSeconds.end(), seconds);
  ++figures.by_seconds[static_cast<std::size_t>(at - kCallSeconds.begin())];
}

void StoreMeter::note_candidates(const Found& found) {
  const std::scoped_lock lock(mutex_);
  KeyHits& hits = figures_.hits;
  for (const auto& candidates : found.candidates) {
    Shared shared = Shared::kNone;
    for (const Candidate& candidate : candidates) shared = shared | candidate.shared;
    figures_.documents_with_candidates += candidates.empty() ? 0 : 1;
    hits.content += has(shared, Shared::kContent) ? 1 : 0;
    hits.minhash += has(shared, Shared::kWords | Shared::kBand) ? 1 : 0;
    hits.simhash += has(shared, Shared::kSimHash) ? 1 : 0;
    hits.chunk += has(shared, Shared::kChunk) ? 1 : 0;
  }
}

StoreFigures StoreMeter::figures() const {
  const std::scoped_lock lock(mutex_);
  return figures_;
}

std::unique_ptr<FingerprintStore> measured(FingerprintStore& store, StoreMeter& meter) {
  return std::make_unique<MeasuredFingerprints>(store, meter);
}
std::unique_ptr<Ledger> measured(Ledger& ledger, StoreMeter& meter) {
  return std::make_unique<MeasuredLedger>(ledger, meter);
}

}  // namespace kin::store
