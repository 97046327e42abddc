#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "base/random.h"
#include "store/dynamo_stores.h"
#include "store/fingerprints/dynamo_rows.h"
#include "store/fingerprints/format.h"
#include "store/fingerprints/keys.h"

namespace kin::store {
namespace {

using cloud::Binary;
using cloud::DynamoClient;
using cloud::Item;

constexpr std::chrono::milliseconds kWait{20};  // for another worker's decision
constexpr std::size_t kMostFaults = 100;

// The state of a look-up: the documents that the caller knows, and their versions.
using Known = std::map<DocId, std::uint64_t>;

Item parameters_key() {
  return {{"pk", std::string("parameters")}, {"sk", std::string("HEAD")}};
}

class DynamoFingerprints final : public FingerprintStore {
 public:
  explicit DynamoFingerprints(const DynamoStoreOptions& options)
      : options_(options),
        client_(options.cloud, *options.clock, options.seed),
        random_(options.seed) {}

  Status bind(const std::optional<FingerprintParameters>& parameters) {
    if (parameters) {
      Item item = parameters_key();
      item.emplace("parameters", Binary{encode_parameters(*parameters)});
      const auto fresh = client_.put_if_absent(options_.minhash_table, kDynamoKey, item);
      if (!fresh) return fresh.error();
    }
    KIN_TRY(const auto item, client_.get(options_.minhash_table, parameters_key()));
    if (!item)
      return Error{Code::kNotFound, fmt::format("{} has no fingerprints (run kindred store create)",
                                                options_.minhash_table)};
    const auto bytes = item->find("parameters");
    if (bytes == item->end() || !std::holds_alternative<Binary>(bytes->second))
      return Error{Code::kDataLoss, options_.minhash_table + ": its parameters cannot be read"};
    KIN_TRY(parameters_, decode_parameters(std::get<Binary>(bytes->second).bytes));
    if (parameters)
      KIN_RETURN_IF_ERROR(check_same(parameters_, *parameters, options_.minhash_table));
    rows_.emplace(client_, options_, version_of(parameters_), parameters_.hamming);
    return Done{};
  }

  const FingerprintParameters& parameters() const override { return parameters_; }

  Result<Found> find(std::span<const Fingerprint> batch) override {
    KIN_TRY(const auto candidates, rows_->look_up(batch));
    std::set<DocId> docs;
    for (const auto& some : candidates) docs.insert(some.begin(), some.end());
    for (const Fingerprint& fingerprint : batch) docs.insert(fingerprint.doc);
    KIN_TRY(const auto rows, rows_->read(docs, false));
    auto known = std::make_shared<Known>();
    Found found;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      found.stored.push_back(kept_row(rows, batch[i].doc) != nullptr);
      auto& list = found.candidates.emplace_back();
      for (const DocId& doc : candidates[i]) {
        const DynamoRow* const row = kept_row(rows, doc);
        if (row == nullptr) continue;
        Candidate candidate = sharing_of(batch[i], row->fingerprint, parameters_.hamming);
        if (candidate.shared == Shared::kNone) continue;
        known->emplace(doc, row->version);
        note_row(found, row->fingerprint);
        list.push_back(std::move(candidate));
      }
    }
    found.state = std::move(known);
    return found;
  }

  Result<std::vector<std::optional<Fingerprint>>> get(std::span<const DocId> ids) override {
    KIN_TRY(const auto rows, rows_->read({ids.begin(), ids.end()}, true));
    std::vector<std::optional<Fingerprint>> out;
    for (const DocId& id : ids) {
      const DynamoRow* const row = kept_row(rows, id);
      out.push_back(row == nullptr ? std::nullopt : std::optional(row->fingerprint));
    }
    return out;
  }

  Result<std::vector<Admission>> admit(std::span<const Fingerprint> batch, const Found& found,
                                       std::span<const std::size_t> chosen,
                                       const Judge& judge) override;

  Status each(const Visit& visit) override {
    return rows_->each(true, [&](const DynamoRow& row) {
      return row.claimed || expired(row) ? Status(Done{}) : visit(row.fingerprint);
    });
  }

  Result<FingerprintStats> stats() override {
    FingerprintStats stats{.parameters = parameters_};
    KIN_RETURN_IF_ERROR(rows_->each(false, [&](const DynamoRow& row) -> Status {
      if (row.claimed || expired(row)) return Done{};
      ++stats.documents;
      stats.bytes += encode_fingerprint(row.fingerprint).size();
      return Done{};
    }));
    return stats;
  }

  Result<std::vector<std::string>> check() override {
    std::vector<std::string> faults;
    KIN_RETURN_IF_ERROR(rows_->each(true, [&](const DynamoRow& row) -> Status {
      KIN_TRY(const std::size_t missing, rows_->missing_keys(row));
      if (missing > 0 && !expired(row) && faults.size() < kMostFaults)
        faults.push_back(fmt::format("document {} lacks {} keys", row.fingerprint.key, missing));
      return Done{};
    }));
    return faults;
  }

 private:
  class Admitting;

  bool expired(const DynamoRow& row) const {
    return options_.retention &&
           row.fingerprint.created + *options_.retention <= options_.clock->now();
  }
  const DynamoRow* kept_row(const DynamoRows::Rows& rows, const DocId& doc) const {
    const auto row = rows.find(doc);
    const bool valid = row != rows.end() && !row->second.claimed && !expired(row->second);
    return valid ? &row->second : nullptr;
  }
  std::uint64_t new_version() {
    const std::lock_guard lock(mutex_);
    // The lowest 20 bits count changes; DynamoDB's numbers hold our 63 bits.
    return random_.next() >> 21 << 20;
  }

  const DynamoStoreOptions options_;
  DynamoClient client_;
  FingerprintParameters parameters_;
  std::optional<DynamoRows> rows_;
  std::mutex mutex_;
  Random random_;
};

// Decides about claims by the protocol of docs/adr/0022. One thread only.
class DynamoFingerprints::Admitting {
 public:
  Admitting(DynamoFingerprints& store, std::span<const Fingerprint> batch, const Known& known,
            std::span<const std::size_t> chosen, const Judge& judge)
      : store_(store), rows_(*store.rows_), batch_(batch), known_(known), judge_(judge) {
    for (std::size_t n = 0; n < chosen.size(); ++n) {
      numbers_.emplace(batch[chosen[n]].doc, n);
      waiting_.insert(chosen[n]);
      order_.emplace(chosen[n], n);
    }
    admissions_.resize(chosen.size());
  }

  Result<std::vector<Admission>> run() {
    while (!waiting_.empty() || !claims_.empty()) {
      progress_ = false;
      Status done = claim();
      if (done.ok()) done = decide();
      if (!done.ok()) {
        withdraw();
        return done.error();
      }
      if (!progress_) store_.options_.clock->sleep_for(kWait);
    }
    return std::move(admissions_);
  }

 private:
  bool stale(const DynamoRow& row) const {
    return row.claimed && store_.options_.clock->now() - row.changed > store_.options_.lease;
  }
  DynamoRow fresh_row(const Fingerprint& fingerprint, bool claimed) {
    return {.fingerprint = fingerprint,
            .claimed = claimed,
            .version = store_.new_version(),
            .changed = store_.options_.clock->now()};
  }

  // Claims documents, replaces existing ones, and re-reads claims that were changed.
  Status claim() {
    if (waiting_.empty()) return Done{};
    std::set<DocId> docs;
    for (const std::size_t i : waiting_) docs.insert(batch_[i].doc);
    KIN_TRY(const auto there, rows_.read(docs, true));
    std::vector<DynamoRows::Put> puts;
    std::vector<std::size_t> putting;
    for (const std::size_t i : std::set(waiting_)) {
      const auto found = there.find(batch_[i].doc);
      if (found == there.end()) {
        puts.push_back({.row = fresh_row(batch_[i], true)});
        putting.push_back(i);
        continue;
      }
      const DynamoRow& row = found->second;
      const bool same = row.fingerprint == batch_[i];
      if (same && (row.claimed || !store_.expired(row))) {
        // Our claim, or that of another worker with the same document: the first decides for both.
        // Or a kept row, which stays.
        claims_.insert_or_assign(i, row);
        waiting_.erase(i);
        progress_ = true;
      } else if (!row.claimed || stale(row)) {
        puts.push_back({.row = fresh_row(batch_[i], row.claimed || store_.expired(row)),
                        .expected = row.version});
        putting.push_back(i);
      }
    }
    KIN_TRY(const auto done, rows_.put(puts));
    for (std::size_t n = 0; n < putting.size(); ++n) {
      if (!done[n]) continue;
      progress_ = true;
      if (puts[n].row.claimed) {
        // Re-read in the next round, with the number of its texts.
        continue;
      }
      finish(putting[n], {});
    }
    return Done{};
  }

  // Other workers need not wait for claims that nobody decides about. A claim that cannot be
  // removed now is removed after its lease, so its error does not matter.
  void withdraw() {
    for (const auto& [i, row] : claims_) {
      if (row.claimed) (void)rows_.remove(row).ok();
    }
  }

  void finish(std::size_t i, Admission admission) {
    admissions_[order_.at(i)] = std::move(admission);
    waiting_.erase(i);
    claims_.erase(i);
    progress_ = true;
  }

  // Rivals of a document: rows that the caller does not know and that share more than chunks.
  Result<bool> is_rival(std::size_t i, const DynamoRow& other) {
    const auto known = known_.find(other.fingerprint.doc);
    if (known != known_.end() && known->second == other.version) return false;
    if (numbers_.contains(other.fingerprint.doc) || store_.expired(other)) return false;
    const Shared shared =
        sharing_of(batch_[i], other.fingerprint, store_.parameters_.hamming).shared;
    if (shared == Shared::kNone || shared == Shared::kChunk) return false;
    const auto key = std::tuple(i, other.fingerprint.doc, other.version >> 20);
    if (const auto judged = judged_.find(key); judged != judged_.end()) return judged->second;
    KIN_TRY(const bool duplicate, judge_(batch_[i], other.fingerprint));
    judged_.emplace(key, duplicate);
    return duplicate;
  }

  Status decide() {
    if (claims_.empty()) return Done{};
    std::vector<Fingerprint> asking;
    std::vector<std::size_t> askers;
    for (const auto& [i, row] : claims_) {
      asking.push_back(batch_[i]);
      askers.push_back(i);
    }
    KIN_TRY(const auto candidates, rows_.look_up(asking));
    std::set<DocId> docs;
    for (const auto& some : candidates) docs.insert(some.begin(), some.end());
    std::erase_if(docs, [&](const DocId& doc) { return numbers_.contains(doc); });
    KIN_TRY(const auto rows, rows_.read(docs, true));
    std::map<DocId, DynamoRow> lower;  // claims that must look again before ours are kept
    std::vector<std::size_t> keeping;
    for (std::size_t n = 0; n < askers.size(); ++n) {
      KIN_TRY(const bool keeps, judge_one(askers[n], candidates[n], rows, lower));
      if (keeps) keeping.push_back(askers[n]);
    }
    std::vector<DynamoRow> poked;
    for (auto& [doc, row] : lower) poked.push_back(std::move(row));
    KIN_TRY(const auto changed, rows_.change(poked));
    if (!std::ranges::all_of(changed, std::identity{})) return Done{};
    return keep(keeping);
  }

  // Whether the document may be kept. Handles a document that lost, or whose claim changed.
  Result<bool> judge_one(std::size_t i, const std::set<DocId>& candidates,
                         const DynamoRows::Rows& rows, std::map<DocId, DynamoRow>& lower) {
    std::map<DocId, DynamoRow> mine;
    for (const DocId& doc : candidates) {
      const auto row = rows.find(doc);
      if (row == rows.end()) continue;
      KIN_TRY(const bool rival, is_rival(i, row->second));
      if (!rival) continue;
      if (!row->second.claimed && !claims_.at(i).claimed) {
        finish(i, {.lost_to = doc});
        return false;
      }
      if (!row->second.claimed) {
        KIN_TRY(const bool removed, rows_.remove(claims_.at(i)));
        // A changed row is re-read, and removed in the next round.
        if (removed)
          finish(i, {.lost_to = doc});
        else
          read_again(i);
        return false;
      }
      // The worker that decides about that claim sees that ours is kept.
      if (!claims_.at(i).claimed) continue;
      if (stale(row->second)) {
        const auto removed = rows_.remove(row->second);
        if (!removed) return removed.error();
        progress_ = true;
        return false;
      }
      if (doc < batch_[i].doc) return false;
      mine.emplace(doc, row->second);
    }
    lower.insert(mine.begin(), mine.end());
    return true;
  }

  Status keep(const std::vector<std::size_t>& keeping) {
    std::vector<DynamoRow> rows;
    std::vector<std::size_t> changing;
    for (const std::size_t i : keeping) {
      if (!claims_.at(i).claimed) {
        finish(i, {});
        continue;
      }
      rows.push_back(claims_.at(i));
      rows.back().claimed = false;
      changing.push_back(i);
    }
    KIN_TRY(const auto changed, rows_.change(rows));
    for (std::size_t n = 0; n < changing.size(); ++n) {
      if (changed[n])
        finish(changing[n], {});
      else
        read_again(changing[n]);
    }
    return Done{};
  }

  void read_again(std::size_t i) {
    claims_.erase(i);
    waiting_.insert(i);
    progress_ = true;
  }

  DynamoFingerprints& store_;
  DynamoRows& rows_;
  const std::span<const Fingerprint> batch_;
  const Known& known_;
  const Judge& judge_;
  std::map<DocId, std::size_t> numbers_;      // numbers of the chosen documents
  std::map<std::size_t, std::size_t> order_;  // place of the answer, by number in the batch
  std::set<std::size_t> waiting_;             // without a claim of known version
  std::map<std::size_t, DynamoRow> claims_;
  std::map<std::tuple<std::size_t, DocId, std::uint64_t>, bool> judged_;
  std::vector<Admission> admissions_;
  bool progress_ = false;
};

Result<std::vector<Admission>> DynamoFingerprints::admit(std::span<const Fingerprint> batch,
                                                         const Found& found,
                                                         std::span<const std::size_t> chosen,
                                                         const Judge& judge) {
  const auto& known = *static_cast<const Known*>(found.state.get());
  return Admitting(*this, batch, known, chosen, judge).run();
}

Result<std::unique_ptr<FingerprintStore>> open_bound(
    const DynamoStoreOptions& options, const std::optional<FingerprintParameters>& parameters) {
  auto store = std::make_unique<DynamoFingerprints>(options);
  KIN_RETURN_IF_ERROR(store->bind(parameters));
  return std::unique_ptr<FingerprintStore>(std::move(store));
}

}  // namespace

Result<bool> create_dynamo_fingerprints(const DynamoStoreOptions& options) {
  DynamoClient client(options.cloud, *options.clock, options.seed);
  bool expires = true;
  for (const std::string& table :
       {options.simhash_table, options.minhash_table, options.chunk_table}) {
    KIN_TRY(const bool made,
            client.create_table({.name = table, .key = kDynamoKey, .ttl_attribute = "ttl"}));
    expires = expires && made;
  }
  return expires;
}

Result<std::unique_ptr<FingerprintStore>> open_dynamo_fingerprints(
    const DynamoStoreOptions& options, const FingerprintParameters& parameters) {
  return open_bound(options, parameters);
}

Result<std::unique_ptr<FingerprintStore>> open_dynamo_fingerprints(
    const DynamoStoreOptions& options) {
  return open_bound(options, std::nullopt);
}

}  // namespace kin::store
