#include "dedup/cut/plans.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/workers.h"
#include "dedup/cut/varint.h"

namespace kin::dedup {
namespace {

// Units are divided into blocks of this many if the matches of a record do not fit into memory.
constexpr int kBlockBits = 12;

// Windows in a row whose partners are in a row too.
struct Run {
  WindowPlace at;
  std::uint32_t windows;
  WindowPlace of;

  bool is_reference() const { return of.record == kNoRecord; }
  bool is_followed_by(const Run& next) const {
    if (next.at.record != at.record || next.at.unit != at.unit + windows) return false;
    if (is_reference() || next.is_reference()) return is_reference() && next.is_reference();
    return next.of.record == of.record && next.of.unit == of.unit + windows;
  }
};

bool by_place(const Run& a, const Run& b) {
  const auto key = [](const Run& run) { return std::tuple(run.at, !run.is_reference(), run.of); };
  return key(a) < key(b);
}

// Joins runs that follow each other. `runs` may have references and matches of one window.
void join(std::vector<Run>& runs) {
  std::sort(runs.begin(), runs.end(), by_place);
  std::vector<Run> joined;
  std::size_t last[2] = {SIZE_MAX, SIZE_MAX};  // the last match, the last reference
  for (const Run& run : runs) {
    std::size_t& before = last[run.is_reference() ? 1 : 0];
    if (before != SIZE_MAX && joined[before].is_followed_by(run)) {
      joined[before].windows += run.windows;
      continue;
    }
    before = joined.size();
    joined.push_back(run);
  }
  runs = std::move(joined);
}

// Removes matches that others cover: in a text that repeats itself almost every window matches, and
// few of them cover all of it. `runs` are sorted and joined.
void thin(std::vector<Run>& runs, std::uint32_t length) {
  const auto end_of = [&](const Run& run) { return run.at.unit + run.windows + length - 1; };
  std::vector<Run> kept;
  std::optional<Run> last;  // the last match that was kept
  std::optional<Run> best;  // the match that reaches furthest, among those that begin up to its end
  const auto keep_best = [&] {
    if (best && (!last || best->at.record != last->at.record || end_of(*best) > end_of(*last))) {
      kept.push_back(*best);
      last = best;
    }
    best.reset();
  };
  for (const Run& run : runs) {
    if (run.is_reference()) {
      kept.push_back(run);
      continue;
    }
    const bool reached = last && last->at.record == run.at.record && run.at.unit <= end_of(*last);
    if (best && (best->at.record != run.at.record || !reached)) keep_best();
    const bool reached_now =
        last && last->at.record == run.at.record && run.at.unit <= end_of(*last);
    if (!reached_now) {
      keep_best();
      best = run;
      keep_best();
    } else if (!best || end_of(run) > end_of(*best)) {
      best = run;
    }
  }
  keep_best();
  std::sort(kept.begin(), kept.end(), by_place);
  runs = std::move(kept);
}

// The matches of a bin that are processed at a time: some rows, and some blocks of their units.
struct Share {
  std::size_t row = 0, rows = 1;
  std::size_t block = 0, blocks = 1;

  bool has_row(const MatchRecord& match) const {
    return rows == 1 || row_number(match.at.record) % rows == row;
  }
  bool has(const MatchRecord& match) const {
    if (!has_row(match)) return false;
    const std::uint64_t place =
        std::uint64_t{row_number(match.at.record)} << 32 | match.at.unit >> kBlockBits;
    return blocks == 1 || mix64(place) % blocks == block;
  }
};

class PlanMaker {
 public:
  PlanMaker(const CutInput& input, const Spill& matches, Plans& plans)
      : length_(input.options.cut->length),
        matches_(matches),
        plans_(plans),
        share_(std::max<std::uint64_t>(
            input.stage_memory / static_cast<std::uint64_t>(input.options.threads), 1 << 20)) {}

  Status make(std::size_t bin) const {
    Share share;
    share.rows = matches_.bytes(bin) * 2 / share_ + 1;
    for (share.row = 0; share.row < share.rows; ++share.row) {
      std::uint64_t count = 0;
      if (share.rows > 1) {
        KIN_RETURN_IF_ERROR(
            visit(bin, [&](const MatchRecord& match) { count += share.has_row(match) ? 1 : 0; }));
      }
      share.blocks = count * sizeof(Run) / share_ + 1;
      KIN_TRY(std::vector<Run> runs, read_runs(bin, share));
      KIN_RETURN_IF_ERROR(keep(runs));
    }
    return Done{};
  }

 private:
  template <typename Visit>
  Status visit(std::size_t bin, const Visit& each) const {
    return matches_.visit(bin, [&](std::string_view block) {
      for (std::size_t at = 0; at + sizeof(MatchRecord) <= block.size(); at += sizeof(MatchRecord))
        each(load_le<MatchRecord>(block.data() + at));
    });
  }

  // A record with very many matches mostly has them in a row, so its runs take little memory.
  Result<std::vector<Run>> read_runs(std::size_t bin, Share share) const {
    std::vector<Run> all;
    for (share.block = 0; share.block < share.blocks; ++share.block) {
      std::vector<Run> runs;
      KIN_RETURN_IF_ERROR(visit(bin, [&](const MatchRecord& match) {
        if (share.has(match))
          runs.push_back({.at = match.at, .windows = match.windows, .of = match.of});
      }));
      join(runs);
      thin(runs, length_);
      if (share.blocks == 1) return runs;
      all.insert(all.end(), runs.begin(), runs.end());
    }
    join(all);
    thin(all, length_);
    return all;
  }

  Status keep(const std::vector<Run>& runs) const {
    for (std::size_t begin = 0; begin < runs.size();) {
      const RecordId record = runs[begin].at.record;
      CutPlan plan;
      for (; begin < runs.size() && runs[begin].at.record == record; ++begin)
        add(runs[begin], plan);
      if (!plan.matches.empty()) plans_.matched.insert_shared(record);
      if (!plan.references.empty()) plans_.references.insert_shared(record);
      KIN_RETURN_IF_ERROR(plans_.values->append(record, plan.encode()));
    }
    return Done{};
  }

  void add(const Run& run, CutPlan& plan) const {
    const UnitRange units{run.at.unit, run.at.unit + run.windows + length_ - 1};
    if (!run.is_reference()) {
      plan.matches.push_back({.units = units, .of = run.of});
    } else if (!plan.references.empty() && plan.references.back().end >= units.begin) {
      plan.references.back().end = units.end;
    } else {
      plan.references.push_back(units);
    }
  }

  std::uint32_t length_;
  const Spill& matches_;
  Plans& plans_;
  std::uint64_t share_;
};

}  // namespace

std::string CutPlan::encode() const {
  std::string bytes;
  append_varint(bytes, static_cast<std::uint32_t>(references.size()));
  std::uint32_t last = 0;
  for (const UnitRange& range : references) {
    append_varint(bytes, range.begin - last);
    append_varint(bytes, range.count());
    last = range.end;
  }
  last = 0;
  for (const MatchRun& run : matches) {
    append_varint(bytes, run.units.begin - last);
    append_varint(bytes, run.units.count());
    append_varint(bytes, static_cast<std::uint32_t>(row_number(run.of.record)));
    append_varint(bytes, run.of.unit);
    last = run.units.begin;
  }
  return bytes;
}

Result<CutPlan> CutPlan::decode(std::string_view bytes) {
  CutPlan plan;
  VarintReader reader(bytes);
  std::uint32_t last = 0;
  for (std::uint32_t left = reader.read(); left > 0 && reader.ok(); --left) {
    const std::uint32_t begin = last + reader.read();
    last = begin + reader.read();
    plan.references.push_back({begin, last});
  }
  last = 0;
  while (reader.ok() && !reader.done()) {
    MatchRun run;
    run.units.begin = last + reader.read();
    run.units.end = run.units.begin + reader.read();
    run.of.record = record_id(reader.read());
    run.of.unit = reader.read();
    last = run.units.begin;
    plan.matches.push_back(run);
  }
  if (!reader.ok()) return Error{Code::kDataLoss, "a plan of cuts is damaged (run again)"};
  return plan;
}

Result<CutPlan> Plans::get(RecordId record) const {
  KIN_TRY(const std::optional<std::string> bytes, values->get(record));
  if (!bytes) return CutPlan{};
  return CutPlan::decode(*bytes);
}

Result<Plans> make_plans(const CutInput& input, const Spill& matches, std::uint64_t rows) {
  Plans plans;
  KIN_TRY(plans.values, store::KeptValues::open({.temporary_parent = input.folder}));
  plans.matched = RecordSet(rows);
  plans.references = RecordSet(rows);
  const PlanMaker maker(input, matches, plans);
  next_phase(input.work, Spill::kBins);
  KIN_RETURN_IF_ERROR(parallel_for(input.options.threads, Spill::kBins, [&](std::size_t bin) {
    count_work(input.work, 1);
    return maker.make(bin);
  }));
  return plans;
}

}  // namespace kin::dedup
