#include "dedup/output/tally.h"

#include <algorithm>

namespace kin::dedup {
namespace {

constexpr std::size_t kLargestGroups = 10;

// `largest` stays sorted, largest first; of equals the earlier row.
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
                    std::uint64_t documents, Sources& sources, DedupReport& report) {
  report.documents = documents;
  report.removed = removals.size();
  report.skipped = dataset.skipped().count;
  report.kept = documents - report.removed - report.skipped;
  const std::vector<std::uint64_t> first_rows = dataset.first_rows();
  for (std::size_t file = 0; file < first_rows.size(); ++file) {
    const std::uint64_t next = file + 1 < first_rows.size() ? first_rows[file + 1] : documents;
    report.files.push_back(
        {.name = dataset.inputs()[file].shown_as, .documents = next - first_rows[file]});
  }
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
    kept_rows.push_back(removal.kept);
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

}  // namespace kin::dedup
