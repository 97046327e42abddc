#include "dedup/output/tally.h"

#include <algorithm>

namespace kin::dedup {
namespace {

constexpr std::size_t kLargestGroups = 10;

// `largest` stays sorted, largest first; equal ones by row.
void count_groups(std::vector<RecordId> kept_rows, DedupReport& report) {
  std::sort(kept_rows.begin(), kept_rows.end());
  std::vector<DedupReport::Group>& largest = report.largest_groups;
  for (std::size_t begin = 0; begin < kept_rows.size();) {
    std::size_t end = begin;
    while (end < kept_rows.size() && kept_rows[end] == kept_rows[begin]) ++end;
    const DedupReport::Group group{
        .kept_row = row_number(kept_rows[begin]), .kept_id = {}, .size = end - begin + 1};
    ++report.groups;
    begin = end;
    if (largest.size() == kLargestGroups && largest.back().size >= group.size) continue;
    if (largest.size() == kLargestGroups) largest.pop_back();
    const auto place =
        std::upper_bound(largest.begin(), largest.end(), group,
                         [](const auto& a, const auto& b) { return a.size > b.size; });
    largest.insert(place, group);
  }
}

// In the order of DecidedCounts.
constexpr std::uint64_t DedupReport::* kDecided[] = {
    &DedupReport::candidates, &DedupReport::verified,         &DedupReport::false_candidates,
    &DedupReport::not_needed, &DedupReport::large_buckets,    &DedupReport::capped_buckets,
    &DedupReport::cold_reads, &DedupReport::cold_read_errors, &DedupReport::bytes_spilled,
    &DedupReport::linked};

void count_files(const data::Dataset& dataset, std::uint64_t rows, const ReferenceCount& references,
                 DedupReport& report) {
  const std::vector<std::uint64_t> first_rows = dataset.first_rows();
  for (std::size_t file = 0; file < first_rows.size(); ++file) {
    const std::string& name = dataset.inputs()[file].shown_as;
    if (file < references.files) {
      report.against.files.push_back(name);
      continue;
    }
    const std::uint64_t next = file + 1 < first_rows.size() ? first_rows[file + 1] : rows;
    report.files.push_back({.name = name, .documents = next - first_rows[file]});
  }
  report.against.records += references.rows;
}

}  // namespace

DecidedCounts decided_counts(const DedupReport& report) {
  DecidedCounts counts{};
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = report.*kDecided[i];
  return counts;
}

void restore_counts(const DecidedCounts& counts, DedupReport& report) {
  for (std::size_t i = 0; i < counts.size(); ++i) report.*kDecided[i] = counts[i];
}

void count_removals(const std::vector<Removal>& removals, const data::Dataset& dataset,
                    std::uint64_t rows, const ReferenceCount& references, Sources& sources,
                    DedupReport& report) {
  report.documents = rows - references.rows;
  report.removed = removals.size();
  for (const RecordId row : dataset.skipped().rows)
    report.skipped += row_number(row) >= references.rows ? 1 : 0;
  report.kept = report.documents - report.removed - report.skipped;
  count_files(dataset, rows, references, report);
  std::vector<std::uint64_t> first_rows = dataset.first_rows();
  first_rows.erase(first_rows.begin(),
                   first_rows.begin() + static_cast<std::ptrdiff_t>(references.files));
  std::vector<RecordId> kept_rows;
  std::size_t file = 0;
  for (const Removal& removal : removals) {
    while (file + 1 < first_rows.size() && row_number(removal.record) >= first_rows[file + 1])
      ++file;
    ++report.removed_by[static_cast<std::size_t>(removal.method)];
    if (removal.method == Method::kSeen) {
      ++report.files[file].seen;
      sources.skip(removal.record);
      continue;
    }
    ++report.files[file].removed;
    sources.remove(removal.record);
    report.against.removed += row_number(removal.kept) < references.rows ? 1 : 0;
    if (removal.kept != removal.record) kept_rows.push_back(removal.kept);
  }
  for (const Sources::Count& count : sources.counts()) {
    report.sources.push_back({.name = count.name,
                              .documents = count.documents,
                              .removed = count.removed,
                              .seen = count.seen});
  }
  count_groups(std::move(kept_rows), report);
}

void count_emptied(const RecordSet& emptied, const data::Dataset& dataset, DedupReport& report) {
  const std::uint64_t count = emptied.count();
  report.removed += count;
  report.kept -= count;
  const std::vector<std::uint64_t> first_rows = dataset.first_rows();
  std::size_t file = 0;
  for (std::size_t row = 0; count > 0 && row < emptied.size(); ++row) {
    while (file + 1 < first_rows.size() && row >= first_rows[file + 1]) ++file;
    if (emptied.contains(record_id(row))) ++report.files[file].removed;
  }
}

void drop_emptied(const RecordSet& emptied, RecordSet& keep, Sources& sources) {
  for (std::size_t row = 0; row < emptied.size(); ++row) {
    if (!emptied.contains(record_id(row))) continue;
    keep.erase(record_id(row));
    sources.remove(record_id(row));
  }
}

RecordSet kept_records(const std::vector<Removal>& removals, const data::Dataset& dataset,
                       std::size_t rows) {
  RecordSet keep(rows, true);
  for (const Removal& removal : removals) keep.erase(removal.record);
  for (const RecordId row : dataset.skipped().rows) keep.erase(row);
  return keep;
}

RecordSet named_records(const std::vector<Removal>& removals, std::size_t rows) {
  RecordSet named(rows);
  for (const Removal& removal : removals) {
    named.insert(removal.record);
    named.insert(removal.kept);
  }
  return named;
}

void note_scan(const ScanCounts::Values& counts, DedupReport& report) {
  report.text_bytes = counts[1];
  report.without_text = counts[3];
  report.without_words = counts[4];
  report.without_order = counts[5];
}

Status name_largest_groups(const KeptTexts& kept, DedupReport& report) {
  if (!kept.ids) return Done{};
  for (DedupReport::Group& group : report.largest_groups) {
    KIN_TRY(group.kept_id, kept.ids->get(record_id(group.kept_row)));
  }
  return Done{};
}

void note_pairs(const CandidateCounts& candidates, const GroupCounts& groups, DedupReport& report) {
  report.candidates = candidates.candidates + groups.added;
  report.verified = groups.verified;
  report.false_candidates = candidates.below_estimate + groups.below_threshold;
  report.not_needed = groups.not_needed;
  report.large_buckets = candidates.large_buckets;
  report.capped_buckets = candidates.capped_buckets + groups.capped;
}

void describe_inputs(const RunInputs& inputs, DedupReport& report) {
  const std::uint64_t references = inputs.references();
  for (const data::Input& input : inputs.own_files()) {
    report.inputs.push_back(input.shown_as);
    report.input_bytes += input.bytes;
  }
  for (const auto& [row, message] : inputs.dataset().skipped().messages)
    report.skipped_messages.push_back(message);
  for (DedupReport::Group& group : report.largest_groups) {
    group.reference = group.kept_row < references;
    if (!group.reference) group.kept_row -= references;
  }
}

}  // namespace kin::dedup
