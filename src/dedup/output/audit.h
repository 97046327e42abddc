// The files that say what was removed and why.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "data/dataset.h"
#include "dedup/groups/grouping.h"
#include "dedup/options.h"
#include "dedup/pairs/classes.h"
#include "dedup/pairs/texts.h"

namespace kin::dedup {

// What the audit files are made of. Borrowed.
struct AuditInput {
  const std::vector<Removal>& removals;  // sorted by record
  const Classes& classes;
  const KeptTexts& kept;
  const data::Dataset& dataset;
  const DedupOptions& options;
  std::uint64_t mean_text_bytes = 1024;  // of a record, about
};

// Nothing: the file is not wanted.
struct AuditPaths {
  std::optional<std::filesystem::path> removed;
  std::optional<std::filesystem::path> groups;
};

// "clean.jsonl.gz" → "clean.removed.jsonl", in the same folder.
std::filesystem::path removed_path(const std::filesystem::path& output);

// The audit log and the groups, in the making. Destroyed without commit(), they leave nothing
// behind.
//
// The log has one JSON object a removed record, in row order: row_id, id, file,
// duplicate_of_row_id, duplicate_of_id, field, value, matched_value, similarity, threshold, method.
// The groups have one JSON object a group, in the order of the kept row: kept_row_id, kept_id,
// size, members (row_id, id, similarity, method). Of a record that went because its id was seen
// before, what the log says of the other record is null, and it is in no group.
class AuditFiles {
 public:
  // Makes empty files under other names. What `input` names is needed until the last work(), but
  // the dataset, which is not.
  static Result<std::unique_ptr<AuditFiles>> create(const AuditInput& input,
                                                    const AuditPaths& paths);
  AuditFiles(const AuditFiles&) = delete;
  ~AuditFiles();

  // Writes until nothing is left for another thread to begin. To be called by any number of
  // threads; when all have returned without an error, the files are complete. The same bytes for
  // any number. Thread-safe.
  Status work();
  // One thread only.
  Status commit();

 private:
  class Log;
  class Groups;
  AuditFiles();
  std::unique_ptr<Log> log_;
  std::unique_ptr<Groups> groups_;
};

}  // namespace kin::dedup
