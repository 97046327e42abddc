// The files that say what was removed and why.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "data/dataset.h"
#include "dedup/classes.h"
#include "dedup/grouping.h"
#include "dedup/options.h"
#include "dedup/texts.h"

namespace kin::dedup {

// What the audit files are made of. Borrowed.
struct AuditInput {
  const std::vector<Removal>& removals;  // sorted by record
  const Classes& classes;
  const KeptTexts& kept;
  const data::Dataset& dataset;
  const DedupOptions& options;
};

// "clean.jsonl.gz" → "clean.removed.jsonl", in the same folder.
std::filesystem::path removed_path(const std::filesystem::path& output);

// One JSON object a removed record, in row order: row_id, id, file, duplicate_of_row_id,
// duplicate_of_id, field, value, matched_value, similarity, threshold, method.
Status write_removed(const AuditInput& input, AtomicFile& file);

// One JSON object a group, in the order of the kept row: kept_row_id, kept_id, size, members
// (row_id, id, similarity, method).
Status write_groups(const AuditInput& input, AtomicFile& file);

}  // namespace kin::dedup
