#include "dedup/cut/groups.h"

#include <vector>

#include "base/bytes.h"
#include "dedup/cut/match_writer.h"
#include "dedup/cut/repeat_table.h"
#include "dedup/cut/thinned.h"
#include "dedup/cut/window_hash.h"

namespace kin::dedup {
namespace {

#pragma pack(push, 1)
struct GroupRecord {
  std::uint64_t key;   // of the fingerprint, spread
  std::uint64_t text;  // hash of all symbols of its windows
  WindowPlace at;      // the first window
  std::uint32_t windows;
};
#pragma pack(pop)
static_assert(sizeof(GroupRecord) == 28);

std::uint64_t key_bits(const GroupRecord& group) {
  return group.key;
}

struct GroupEntry {
  std::uint64_t key = 0;
  std::uint64_t text = 0;
  std::uint32_t count = 0;  // up to the number that counts
  bool contested = false;
  std::uint32_t windows = 0;
  Occurrences places{};
};
std::uint64_t key_bits(const GroupEntry& entry) {
  return entry.key;
}

// Writes the groups of records whose fingerprints may be repeated to the spill, on one thread.
class GroupWriter {
 public:
  GroupWriter(const CutInput& input, const Sampled& sampled, Spill& spill)
      : length_(input.options.cut->length),
        by_byte_(input.options.cut->unit == CutOptions::Unit::kByte),
        weak_hashes_(input.weak_hashes),
        sampled_(sampled),
        sampler_(length_),
        thinned_(input.options.cut->repeats + 1),
        writer_(spill) {}

  Status visit(RecordId record, Units& units) {
    for (const Units::Field& field : units.fields()) {
      const Units::Symbols symbols = units.symbols(field);
      std::optional<GroupRecord> before;
      const auto write = [&](const GroupRecord& group) { writer_.append(group.key >> 56, group); };
      const auto add = [&](std::uint64_t fingerprint, std::size_t first, std::size_t end) {
        if (!sampled_.repeated.may_contain(fingerprint)) return;
        const std::size_t count = end - first + length_ - 1;
        const std::string_view text =
            by_byte_ ? field.text.substr(first, count) : as_bytes_view(symbols.words(first, count));
        const GroupRecord group{
            .key = spread_fingerprint(fingerprint),
            .text = weak_hashes_ ? 0 : hash64(text),
            .at = {record, field.units.begin + static_cast<std::uint32_t>(first)},
            .windows = static_cast<std::uint32_t>(end - first)};
        const bool equal = before && follows(*before, group);
        thinned_.add(group, equal, 1 + (length_ - 1) / group.windows, write);
        before = group;
      };
      sampler_.for_each(symbols, field.units.count(), add);
      thinned_.flush(write);
    }
    return writer_.failed() ? writer_.flush() : Status(Done{});
  }

  Status finish() { return writer_.flush(); }

 private:
  // Whether `next` has the text of `group` and begins where it ends.
  static bool follows(const GroupRecord& group, const GroupRecord& next) {
    const WindowPlace at = group.at;
    const WindowPlace then = next.at;
    return group.key == next.key && group.text == next.text && group.windows == next.windows &&
           at.record == then.record && at.unit + group.windows == then.unit;
  }

  const std::uint32_t length_;
  const bool by_byte_;
  const bool weak_hashes_;
  const Sampled& sampled_;
  WindowSampler sampler_;
  Thinned<GroupRecord> thinned_;
  Spill::Writer writer_;
};

// Finds the contested fingerprints.
struct MarkContested {
  Contested& contested;
  void operator()(const RepeatTable<GroupEntry>& table, const GroupRecord& group) const {
    if (!table.find({.key = group.key}).contested) return;
    contested.fingerprints.insert(gather_fingerprint(group.key));
  }
  static Status finish() { return Done{}; }
};

// Matches the groups of the other fingerprints.
class MatchGroups {
 public:
  MatchGroups(const CutOptions& cut, std::uint64_t rows, Spill& matches, Contested& contested)
      : repeats_(cut.repeats), contested_(contested), writer_(cut, rows, matches) {}

  void operator()(const RepeatTable<GroupEntry>& table, const GroupRecord& group) {
    // The filter also contains some fingerprints that are not contested; they are treated the same.
    if (contested_.fingerprints.may_contain(gather_fingerprint(group.key))) {
      contested_.records.insert_shared(WindowPlace(group.at).record);
      return;
    }
    const GroupEntry& entry = table.find({.key = group.key});
    if (entry.count >= repeats_) writer_.add(group.at, entry.places, group.windows);
  }
  Status finish() { return writer_.finish(); }

 private:
  std::uint32_t repeats_;
  Contested& contested_;
  MatchWriter writer_;
};

Status spill_groups(const CutInput& input, const Sampled& sampled, Spill& groups) {
  std::vector<std::unique_ptr<GroupWriter>> writers;
  for (int worker = 0; worker < input.options.threads; ++worker)
    writers.push_back(std::make_unique<GroupWriter>(input, sampled, groups));
  const auto visit = [&](const data::Batch& batch, std::size_t i, Units& units, int worker) {
    return writers[static_cast<std::size_t>(worker)]->visit(batch.row(i), units);
  };
  KIN_RETURN_IF_ERROR(scan_units(input, {.only = &sampled.marked}, visit));
  for (auto& writer : writers) KIN_RETURN_IF_ERROR(writer->finish());
  return Done{};
}

}  // namespace

Result<Contested> match_groups(const CutInput& input, const Sampled& sampled, Spill& matches,
                               std::uint64_t& bytes_spilled) {
  const CutOptions& cut = *input.options.cut;
  const int threads = input.options.threads;
  Spill groups({.file = input.folder / "groups.spill",
                .record_bytes = sizeof(GroupRecord),
                .memory_bytes = input.spill_memory / 2});
  KIN_RETURN_IF_ERROR(spill_groups(input, sampled, groups));
  bytes_spilled += groups.bytes_on_disk();
  Contested contested;
  contested.records = RecordSet(sampled.rows);
  const std::uint64_t most = groups.total_bytes() / sizeof(GroupRecord) / 2;
  contested.fingerprints = FingerprintFilter(
      std::min(input.stage_memory / 4, std::max<std::uint64_t>(most * 12 / 8, 1 << 10)));
  const auto note = [&](RepeatTable<GroupEntry>& table, const GroupRecord& group) {
    GroupEntry& entry = table.get({.key = group.key, .text = group.text, .windows = group.windows});
    if (entry.count < cut.repeats) ++entry.count;
    entry.contested = entry.contested || entry.text != group.text || entry.windows != group.windows;
    entry.places.add(group.at);
  };
  const std::uint64_t memory = input.stage_memory / 2;
  next_phase(input.work, 2 * Spill::kBins);
  KIN_RETURN_IF_ERROR((for_each_repeat<GroupRecord, GroupEntry>(
      groups, threads, memory, note, [&] { return MarkContested{contested}; }, input.work)));
  const auto match = [&] { return MatchGroups(cut, sampled.rows, matches, contested); };
  KIN_RETURN_IF_ERROR(
      (for_each_repeat<GroupRecord, GroupEntry>(groups, threads, memory, note, match, input.work)));
  return contested;
}

}  // namespace kin::dedup
