// The audit log and the groups file: the removed records, and the reasons.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "data/dataset.h"
#include "dedup/groups/grouping.h"
#include "dedup/options.h"
#include "dedup/pairs/classes.h"
#include "dedup/pairs/texts.h"

namespace kin::dedup {

// The input of the audit files. Borrowed.
struct AuditInput {
  const std::vector<Removal>& removals;  // sorted by record
  const Classes& classes;
  const KeptTexts& kept;
  const data::Dataset& dataset;
  const DedupOptions& options;
  std::uint64_t mean_text_bytes = 1024;    // of a record, about
  bool with_texts = true;                  // false: the log names records without their texts
  std::uint64_t references = 0;            // the first rows
  const ContainIndex* contains = nullptr;  // with `evidence`, for records that contain references
  const store::KeptValues* evidence = nullptr;
  StageWork* work = nullptr;  // counts the lines of the log
};

// Nothing: the file is not wanted. Extensions decide the formats.
struct AuditPaths {
  std::optional<std::filesystem::path> removed;
  std::optional<std::filesystem::path> groups;
  std::filesystem::path temporary_folder;
  std::uint64_t memory_bytes = std::uint64_t{64} << 20;  // to convert with
};

// "clean.jsonl.gz" → "clean.removed.jsonl", in the same folder.
std::filesystem::path removed_path(const std::filesystem::path& output);

// Writes the audit log and the groups. Destroyed without commit(), it leaves no file.
//
// The log has one JSON object per removed record, in row order: row_id, id, file,
// duplicate_of_row_id, duplicate_of_id, field, value, matched_value, similarity, threshold, method.
// The groups have one JSON object per group, in the order of the kept row: kept_row_id, kept_id,
// size, members (row_id, id, similarity, method). For a record that was removed because its id was
// seen before, the fields of the other record are null, and it is in no group. Rows count from 0
// over the inputs. With references, lines and groups also have duplicate_of_file, and
// duplicate_of_reference for a kept reference, whose row then counts over the references. A record
// that contains a reference has the share of it as similarity, and a passage of it.
class AuditFiles {
 public:
  // Makes empty files under temporary names. Everything in `input` but the dataset must live until
  // the last work() returns.
  static Result<std::unique_ptr<AuditFiles>> create(const AuditInput& input,
                                                    const AuditPaths& paths);
  AuditFiles(const AuditFiles&) = delete;
  ~AuditFiles();

  // Writes until no piece is left. Any number of threads may call it; when all have returned
  // without an error, the files are complete. The bytes do not depend on the number of threads.
  // Thread-safe.
  Status work();
  // After the last work(): everything is written, under temporary names. One thread only.
  Status finish();
  Status commit();

 private:
  class Log;
  class Groups;
  AuditFiles();
  std::unique_ptr<Log> log_;
  std::unique_ptr<Groups> groups_;
};

}  // namespace kin::dedup
