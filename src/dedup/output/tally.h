// Counts the decisions of a run, for its report.
#pragma once

#include <vector>

#include "base/record_set.h"
#include "data/dataset.h"
#include "dedup/against/run_inputs.h"
#include "dedup/groups/grouping.h"
#include "dedup/output/checkpoint.h"
#include "dedup/pairs/candidates.h"
#include "dedup/pairs/texts.h"
#include "dedup/report.h"
#include "dedup/scan/sources.h"

namespace kin::dedup {

// The first rows and files of a dataset, which are references and not counted.
struct ReferenceCount {
  std::uint64_t rows = 0;
  std::size_t files = 0;
};

// Fills in documents, kept, removed, removed_by, skipped, groups, files, sources and against.
// `removals` is sorted by record; `rows` is how many records there are, references included.
void count_removals(const std::vector<Removal>& removals, const data::Dataset& dataset,
                    std::uint64_t rows, const ReferenceCount& references, Sources& sources,
                    DedupReport& report);

// Removes records of which nothing is left from `keep`, and counts them for their sources. Call it
// before count_removals().
void drop_emptied(const RecordSet& emptied, RecordSet& keep, Sources& sources);
// Counts records that were removed because nothing was left. Call it after count_removals().
void count_emptied(const RecordSet& emptied, const data::Dataset& dataset, DedupReport& report);

// The records that are neither removed nor skipped, of `rows`.
RecordSet kept_records(const std::vector<Removal>& removals, const data::Dataset& dataset,
                       std::size_t rows);
// The records that removals name.
RecordSet named_records(const std::vector<Removal>& removals, std::size_t rows);

// Fills in the counts of the scan.
void note_scan(const ScanCounts::Values& counts, DedupReport& report);
// Fills in the ids of the largest groups, if there are ids.
Status name_largest_groups(const KeptTexts& kept, DedupReport& report);
// Fills in the counts of pairs.
void note_pairs(const CandidateCounts& candidates, const GroupCounts& groups, DedupReport& report);

// Fills in inputs, their size and what was skipped in them; makes rows of the largest groups count
// over inputs or references. Call it last.
void describe_inputs(const RunInputs& inputs, DedupReport& report);

// Copies the counts of the decision from a report to a checkpoint, and back.
DecidedCounts decided_counts(const DedupReport& report);
void restore_counts(const DecidedCounts& counts, DedupReport& report);

}  // namespace kin::dedup
