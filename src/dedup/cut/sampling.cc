#include "dedup/cut/sampling.h"

#include <memory>

#include "base/hash.h"
#include "dedup/cut/repeat_table.h"
#include "dedup/cut/window_hash.h"
#include "dedup/spill/shared_keys.h"
#include "dedup/spill/spill.h"

namespace kin::dedup {
namespace {

struct FingerprintEntry {
  std::uint64_t key = 0;
  std::uint32_t count = 0;
};
std::uint64_t key_bits(const FingerprintEntry& entry) {
  return entry.key;
}

// Writes the fingerprints of records to the spill, on one thread.
class Sampler {
 public:
  Sampler(const CutOptions& cut, Spill& spill) : sampler_(cut.length), writer_(spill) {}

  void visit(RecordId record, Units& units) {
    text_bytes_ += units.text_bytes();
    without_text_ += units.has_text() ? 0 : 1;
    for (const Units::Field& field : units.fields()) {
      const Units::Symbols symbols = units.symbols(field);
      // Two of a run of equal fingerprints are enough: a text of one repeated word has little else.
      std::uint64_t last = 0;
      int streak = 0;
      const auto add = [&](std::uint64_t fingerprint, std::size_t, std::size_t) {
        streak = streak > 0 && fingerprint == last ? streak + 1 : 1;
        last = fingerprint;
        if (streak > 2) return;
        const BandRecord sample{.key = spread_fingerprint(fingerprint), .record = record};
        writer_.append(bin_of(sample), sample);
      };
      sampler_.for_each(symbols, field.units.count(), add);
    }
  }

  Status finish(Sampled& sampled) {
    sampled.text_bytes += text_bytes_;
    sampled.without_text += without_text_;
    return writer_.flush();
  }
  Status check() { return writer_.failed() ? writer_.flush() : Status(Done{}); }

 private:
  WindowSampler sampler_;
  Spill::Writer writer_;
  std::uint64_t text_bytes_ = 0;
  std::uint64_t without_text_ = 0;
};

struct Mark {
  Sampled& sampled;
  void operator()(const RepeatTable<FingerprintEntry>& table, const BandRecord& sample) const {
    if (table.find({.key = sample.key}).count < 2) return;
    sampled.marked.insert_shared(sample.record);
    sampled.repeated.insert(gather_fingerprint(sample.key));
  }
  static Status finish() { return Done{}; }
};

Status find_repeated(const CutInput& input, const Spill& spill, Sampled& sampled) {
  sampled.marked = RecordSet(sampled.rows);
  // Twelve bits per fingerprint, if every one occurs just twice: one in a hundred others
  // passes.
  const std::uint64_t most = spill.total_bytes() / sizeof(BandRecord) / 2;
  sampled.repeated = FingerprintFilter(
      std::min(input.stage_memory / 2, std::max<std::uint64_t>(most * 12 / 8, 1 << 10)));
  const auto note = [](RepeatTable<FingerprintEntry>& table, const BandRecord& sample) {
    FingerprintEntry& entry = table.get({.key = sample.key});
    entry.key = sample.key;
    if (entry.count < 2) ++entry.count;
  };
  next_phase(input.work, Spill::kBins);
  return for_each_repeat<BandRecord, FingerprintEntry>(
      spill, input.options.threads, input.stage_memory / 2, note, [&] { return Mark{sampled}; },
      input.work);
}

}  // namespace

Result<Sampled> sample_windows(const CutInput& input) {
  Spill spill({.file = input.folder / "fingerprints.spill",
               .record_bytes = sizeof(BandRecord),
               .memory_bytes = input.spill_memory});
  std::vector<std::unique_ptr<Sampler>> samplers;
  for (int worker = 0; worker < input.options.threads; ++worker)
    samplers.push_back(std::make_unique<Sampler>(*input.options.cut, spill));
  Sampled sampled;
  const auto visit = [&](const data::Batch& batch, std::size_t i, Units& units, int worker) {
    Sampler& sampler = *samplers[static_cast<std::size_t>(worker)];
    sampler.visit(batch.row(i), units);
    return sampler.check();
  };
  KIN_TRY(const ScannedUnits scanned, scan_units(input, {.only = input.keep}, visit));
  sampled.rows = scanned.rows;
  sampled.heaviest_text = scanned.heaviest_text;
  if (input.keep != nullptr) sampled.rows = input.keep->size();
  for (auto& sampler : samplers) KIN_RETURN_IF_ERROR(sampler->finish(sampled));
  KIN_RETURN_IF_ERROR(find_repeated(input, spill, sampled));
  sampled.bytes_spilled = spill.bytes_on_disk();
  return sampled;
}

}  // namespace kin::dedup
