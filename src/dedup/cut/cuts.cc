#include "dedup/cut/cuts.h"

#include <malloc.h>

#include <algorithm>
#include <unordered_map>

#include "base/file.h"
#include "dedup/cut/cut_log.h"
#include "dedup/cut/groups.h"
#include "dedup/cut/matches.h"
#include "dedup/cut/plans.h"
#include "dedup/cut/references.h"
#include "dedup/cut/sampling.h"
#include "dedup/cut/varint.h"

namespace kin::dedup {
namespace {

std::string encode_edits(const std::vector<CutPassage>& passages) {
  std::string bytes;
  for (const CutPassage& passage : passages) {
    append_varint(bytes, passage.field);
    append_varint(bytes, passage.cut.begin);
    append_varint(bytes, passage.cut.end);
  }
  return bytes;
}

// Compares all matches, and adds the cuts.
Status cut_records(const CutInput& input, const Plans& plans, const References& references,
                   Cuts& cuts) {
  const DedupOptions& options = input.options;
  const CutLog log(input.dataset, options);
  std::vector<std::unique_ptr<Cutter>> cutters;
  for (int worker = 0; worker < options.threads; ++worker) {
    cutters.push_back(std::make_unique<Cutter>(
        *options.cut, references,
        input.stage_memory / 2 / static_cast<std::uint64_t>(options.threads)));
  }
  const bool with_ids = options.id_column.has_value();
  const auto visit = [&](const data::Batch& batch, std::size_t i, Units& units,
                         int worker) -> Status {
    Cutter& cutter = *cutters[static_cast<std::size_t>(worker)];
    KIN_TRY(const CutPlan plan, plans.get(batch.row(i)));
    KIN_TRY(const RecordCut cut, cutter.cut(units, plan));
    std::string lines;
    if (!options.dry_run) {
      std::optional<std::string_view> id;
      if (with_ids) id = batch.value(options.fields.size(), i);
      KIN_TRY(lines, log.lines(batch.row(i), id, units, cut, cutter));
    }
    return cuts.add(batch.row(i), cut, lines);
  };
  KIN_RETURN_IF_ERROR(scan_units(input, {.only = &plans.matched, .with_ids = with_ids}, visit));
  return Done{};
}

// Begins a stage with the relative durations of its phases.
Status enter(const CutInput& input, const char* stage,
             std::initializer_list<std::uint32_t> phases) {
  KIN_RETURN_IF_ERROR(input.enter(stage));
  if (input.work != nullptr) input.work->plan(phases);
  return Done{};
}

// Checks what the first pass has found; an earlier stage has checked the texts of `keep`.
Status check_sizes(const CutInput& input, std::uint64_t rows, std::uint64_t heaviest_text) {
  KIN_RETURN_IF_ERROR(input.check_rows(rows));
  const bool is_new = input.keep == nullptr && input.check_text;
  return is_new ? input.check_text(heaviest_text) : Status(Done{});
}

// Matches windows by their hashes: lines and paragraphs, or windows that groups did not decide.
Status match_windows(const CutInput& input, const Contested* contested, CutOutcome& outcome,
                     Spill& matches) {
  Spill windows({.file = input.folder / "windows.spill",
                 .record_bytes = sizeof(WindowRecord),
                 .memory_bytes = input.spill_memory / 2});
  KIN_TRY(const WindowCounts counts, spill_windows(input, contested, windows));
  if (contested == nullptr) {
    outcome.rows = counts.rows;
    outcome.text_bytes = counts.text_bytes;
    outcome.without_text = counts.without_text;
    KIN_RETURN_IF_ERROR(check_sizes(input, outcome.rows, counts.heaviest_text));
  }
  outcome.bytes_spilled += windows.bytes_on_disk();
  KIN_RETURN_IF_ERROR(enter(input, "match", {4, 1}));
  return find_matches(input, windows, outcome.rows, matches);
}

// Matches passages: first the groups of windows, then the remaining windows.
Status match_passages(const CutInput& input, CutOutcome& outcome, Spill& matches) {
  KIN_RETURN_IF_ERROR(enter(input, "sample", {9, 1}));
  std::optional<Contested> contested;
  {
    KIN_TRY(const Sampled sampled, sample_windows(input));
    outcome.rows = sampled.rows;
    outcome.text_bytes = sampled.text_bytes;
    outcome.without_text = sampled.without_text;
    outcome.bytes_spilled += sampled.bytes_spilled;
    KIN_RETURN_IF_ERROR(check_sizes(input, outcome.rows, sampled.heaviest_text));
    if (sampled.marked.count() == 0) return Done{};
    KIN_RETURN_IF_ERROR(enter(input, "groups", {4, 1}));
    KIN_TRY(contested, match_groups(input, sampled, matches, outcome.bytes_spilled));
  }
  if (contested->records.count() == 0) return Done{};
  KIN_RETURN_IF_ERROR(input.enter("windows"));
  return match_windows(input, &*contested, outcome, matches);
}

Result<Plans> find_plans(const CutInput& input, CutOutcome& outcome) {
  Spill matches({.file = input.folder / "matches.spill",
                 .record_bytes = sizeof(MatchRecord),
                 .memory_bytes = input.spill_memory / 2});
  if (input.options.cut->by_line()) {
    KIN_RETURN_IF_ERROR(input.enter("lines"));
    KIN_RETURN_IF_ERROR(match_windows(input, nullptr, outcome, matches));
  } else {
    KIN_RETURN_IF_ERROR(match_passages(input, outcome, matches));
  }
  outcome.bytes_spilled += matches.bytes_on_disk();
  return make_plans(input, matches, outcome.rows);
}

}  // namespace

Result<std::unique_ptr<Cuts>> Cuts::create(const CutInput& input, std::uint64_t rows) {
  std::unique_ptr<Cuts> cuts(new Cuts());
  cuts->fields_ = input.options.fields;
  cuts->touched_ = RecordSet(rows);
  cuts->emptied_ = RecordSet(rows);
  const store::KeptValuesOptions temporary{.temporary_parent = input.folder};
  KIN_TRY(cuts->edits_, store::KeptValues::open(temporary));
  if (!input.options.dry_run) {
    KIN_TRY(cuts->log_, store::KeptValues::open(temporary));
  }
  return cuts;
}

Status Cuts::add(RecordId record, const RecordCut& cut, const std::string& log) {
  counts_.unverified += cut.unverified;
  if (cut.passages.empty()) return Done{};
  touched_.insert_shared(record);
  if (cut.emptied) emptied_.insert_shared(record);
  ++counts_.records;
  counts_.emptied += cut.emptied ? 1 : 0;
  counts_.passages += cut.passages.size();
  for (const CutPassage& passage : cut.passages)
    counts_.bytes += passage.cut.end - passage.cut.begin;
  if (!cut.emptied) KIN_RETURN_IF_ERROR(edits_->append(record, encode_edits(cut.passages)));
  return log_ ? log_->append(record, log) : Status(Done{});
}

Result<bool> Cuts::replace(std::size_t column, RecordId record, std::string_view old,
                           std::string& text) const {
  if (!touched_.contains(record) || emptied_.contains(record)) return false;
  KIN_TRY(const std::optional<std::string> edits, edits_->get(record));
  if (!edits) return Error{Code::kInternal, "the cuts of a record were not kept"};
  VarintReader reader(*edits);
  std::size_t from = 0;
  bool changed = false;
  text.clear();
  while (reader.ok() && !reader.done()) {
    const std::uint32_t field = reader.read();
    const std::uint32_t begin = reader.read();
    const std::uint32_t end = reader.read();
    if (field != column) continue;
    if (begin < from || end < begin || end > old.size())
      return Error{Code::kDataLoss, "the text of a record changed during the run (run again)"};
    text += old.substr(from, begin - from);
    from = end;
    changed = true;
  }
  if (!reader.ok()) return Error{Code::kDataLoss, "the cuts of a record are damaged (run again)"};
  if (changed) text += old.substr(from);
  return changed;
}

Status Cuts::write_log(AtomicFile& file) const {
  constexpr std::size_t kAtOnce = 512;
  std::vector<RecordId> rows;
  std::unordered_map<RecordId, std::string> found;
  const auto write = [&]() -> Status {
    found.clear();
    log_->get_batch(rows, [&](RecordId row, std::string_view lines) { found[row] = lines; });
    for (const RecordId row : rows) {
      const auto lines = found.find(row);
      if (lines == found.end())
        return Error{Code::kDataLoss,
                     "the log of cuts could not be read back (check the disk, or "
                     "point --temp at another)"};
      KIN_RETURN_IF_ERROR(file.write(lines->second));
    }
    rows.clear();
    return Done{};
  };
  for (std::size_t row = 0; row < touched_.size(); ++row) {
    if (touched_.contains(record_id(row))) rows.push_back(record_id(row));
    if (rows.size() == kAtOnce) KIN_RETURN_IF_ERROR(write());
  }
  return write();
}

Result<CutOutcome> find_cuts(const CutInput& input) {
  CutOutcome outcome;
  KIN_TRY(const Plans plans, find_plans(input, outcome));
  ::malloc_trim(0);
  KIN_TRY(outcome.cuts, Cuts::create(input, outcome.rows));
  if (plans.matched.count() == 0) return outcome;
  KIN_RETURN_IF_ERROR(input.enter("texts"));
  KIN_TRY(const References references, collect_references(input, plans));
  KIN_RETURN_IF_ERROR(input.enter("cut"));
  KIN_RETURN_IF_ERROR(cut_records(input, plans, references, *outcome.cuts));
  return outcome;
}

}  // namespace kin::dedup
