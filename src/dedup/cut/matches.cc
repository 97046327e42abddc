#include "dedup/cut/matches.h"

#include <vector>

#include "dedup/cut/groups.h"
#include "dedup/cut/match_writer.h"
#include "dedup/cut/repeat_table.h"
#include "dedup/cut/thinned.h"

namespace kin::dedup {
namespace {

struct WindowEntry {
  WindowKey key;
  std::uint32_t count = 0;  // up to the number that counts
  Occurrences places{};
};
std::uint64_t key_bits(const WindowEntry& entry) {
  return entry.key.key;
}

// Writes the windows of records to the spill, on one thread.
class WindowWriter {
 public:
  WindowWriter(const CutInput& input, const Contested* contested, Spill& spill)
      : weak_hashes_(input.weak_hashes),
        contested_(contested),
        sampler_(input.options.cut->length),
        hasher_(input.options.cut->length),
        length_(input.options.cut->length),
        thinned_(input.options.cut->repeats + 1),
        writer_(spill) {}

  Status visit(RecordId record, Units& units) {
    counts_.text_bytes += units.text_bytes();
    counts_.without_text += units.has_text() ? 0 : 1;
    if (contested_ == nullptr) {
      add_lines(record, units);
    } else {
      for (const Units::Field& field : units.fields()) add_windows(record, units, field);
    }
    return writer_.failed() ? writer_.flush() : Status(Done{});
  }

  Status finish(WindowCounts& counts) {
    counts.text_bytes += counts_.text_bytes;
    counts.without_text += counts_.without_text;
    return writer_.flush();
  }

 private:
  struct Keyed {
    WindowKey key;
    WindowPlace at;
  };

  void add_lines(RecordId record, Units& units) {
    for (std::uint32_t unit = 0; unit < units.count(); ++unit) {
      const auto hash = units.key(unit);
      if (!hash) continue;
      append({hash->low, static_cast<std::uint32_t>(hash->high)}, {record, unit});
    }
  }

  void add_windows(RecordId record, Units& units, const Units::Field& field) {
    const Units::Symbols symbols = units.symbols(field);
    std::size_t begin = 0;  // of the windows that are to be hashed, and their end
    std::size_t end = 0;
    const auto write = [&](const Keyed& keyed) { append(keyed.key, keyed.at); };
    const auto hash_region = [&] {
      if (begin == end) return;
      WindowKey before;
      hasher_.for_each(symbols, begin, end, [&](std::size_t window, const WindowKey& key) {
        const Keyed keyed{key, {record, field.units.begin + static_cast<std::uint32_t>(window)}};
        thinned_.add(keyed, window > begin && key == before, length_, write);
        before = key;
      });
      thinned_.flush(write);
    };
    const auto select = [&](std::uint64_t fingerprint, std::size_t first, std::size_t last) {
      if (!contested_->fingerprints.may_contain(fingerprint)) return;
      if (first != end) {
        hash_region();
        begin = first;
      }
      end = last;
    };
    sampler_.for_each(symbols, field.units.count(), select);
    hash_region();
  }

  void append(WindowKey key, const WindowPlace& at) {
    if (weak_hashes_) key = {mix64(key.key & 3), 0};
    writer_.append(key.key >> 56, WindowRecord{.hash = key.key, .extra = key.extra, .at = at});
  }

  const bool weak_hashes_;
  const Contested* contested_;
  WindowSampler sampler_;
  WindowHasher hasher_;
  const std::uint32_t length_;
  Thinned<Keyed> thinned_;
  Spill::Writer writer_;
  WindowCounts counts_;
};

// Writes the matches of the windows of one bin.
class MatchWindows {
 public:
  MatchWindows(const CutOptions& cut, std::uint64_t rows, Spill& matches)
      : repeats_(cut.repeats), writer_(cut, rows, matches) {}

  void operator()(const RepeatTable<WindowEntry>& table, const WindowRecord& window) {
    const WindowEntry& entry = table.find({.key = window.key()});
    if (entry.count >= repeats_) writer_.add(window.at, entry.places, 1);
  }
  Status finish() { return writer_.finish(); }

 private:
  std::uint32_t repeats_;
  MatchWriter writer_;
};

}  // namespace

Result<WindowCounts> spill_windows(const CutInput& input, const Contested* contested,
                                   Spill& windows) {
  std::vector<std::unique_ptr<WindowWriter>> writers;
  for (int worker = 0; worker < input.options.threads; ++worker)
    writers.push_back(std::make_unique<WindowWriter>(input, contested, windows));
  const auto visit = [&](const data::Batch& batch, std::size_t i, Units& units, int worker) {
    return writers[static_cast<std::size_t>(worker)]->visit(batch.row(i), units);
  };
  WindowCounts counts;
  const RecordSet* only = contested != nullptr ? &contested->records : input.keep;
  KIN_TRY(const ScannedUnits scanned, scan_units(input, {.only = only}, visit));
  counts.rows = scanned.rows;
  counts.heaviest_text = scanned.heaviest_text;
  if (only != nullptr) counts.rows = only->size();
  for (auto& writer : writers) KIN_RETURN_IF_ERROR(writer->finish(counts));
  return counts;
}

Status find_matches(const CutInput& input, const Spill& windows, std::uint64_t rows,
                    Spill& matches) {
  const CutOptions& cut = *input.options.cut;
  const auto note = [&](RepeatTable<WindowEntry>& table, const WindowRecord& window) {
    WindowEntry& entry = table.get({.key = window.key()});
    if (entry.count < cut.repeats) ++entry.count;
    entry.places.add(window.at);
  };
  next_phase(input.work, Spill::kBins);
  return for_each_repeat<WindowRecord, WindowEntry>(
      windows, input.options.threads, input.stage_memory, note,
      [&] { return MatchWindows(cut, rows, matches); }, input.work);
}

}  // namespace kin::dedup
