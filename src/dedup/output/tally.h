// Counts what a run decided, for its report.
#pragma once

#include <vector>

#include "base/record_set.h"
#include "data/dataset.h"
#include "dedup/groups/grouping.h"
#include "dedup/output/checkpoint.h"
#include "dedup/report.h"
#include "dedup/scan/sources.h"

namespace kin::dedup {

// Fills in documents, kept, removed, removed_by, skipped, groups, files and sources. `removals` is
// sorted by record; `documents` is how many records there are.
void count_removals(const std::vector<Removal>& removals, const data::Dataset& dataset,
                    std::uint64_t documents, Sources& sources, DedupReport& report);

// Counts records that were removed because nothing was left of them. After count_removals().
void count_emptied(const RecordSet& emptied, const data::Dataset& dataset, DedupReport& report);

// Copies the counts of the decision from a report to a checkpoint, and back.
DecidedCounts decided_counts(const DedupReport& report);
void restore_counts(const DecidedCounts& counts, DedupReport& report);

}  // namespace kin::dedup
