// A whole deduplication run: from files to files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "data/dataset.h"
#include "dedup/options.h"
#include "dedup/progress.h"
#include "dedup/report.h"

namespace kin::dedup {

// The contents of the audit log for a removed record.
enum class Audit {
  kFull,  // which record it duplicates and how alike they are, with both texts
  kIds,   // the same without the texts
  kNone,  // there is no log
};

class Uploads;

struct DedupJob {
  std::vector<std::string> inputs;  // paths, folders, globs, or "-"
  // "-": JSONL on standard output. A folder (existing, or ending with a slash): one file in it for
  // each input, with the same name and format. Not used by a dry run.
  std::filesystem::path output;
  std::optional<std::filesystem::path> removed_output;     // nothing: named after the output
  std::optional<std::filesystem::path> quarantine_output;  // nothing: named after the output
  Audit audit = Audit::kFull;
  // The extension of each of these decides its format; "-" is standard output.
  std::optional<std::filesystem::path> groups_output;
  std::optional<std::filesystem::path> cut_output;  // nothing: named after the output
  std::optional<std::filesystem::path> report_output;
  data::OutputFormat format;  // of the output
  // Sends outputs to other machines (dedup/uploads.h). Borrowed.
  Uploads* uploads = nullptr;
  // Called before anything is read, with each loss of the output format; the report has them too.
  std::function<void(const std::string& note)> foretell = {};
  DedupOptions options;
};

// Runs the job; `clock` times its stages and checkpoints. On success every output is in place; on
// failure none is, and the inputs are as they were in any case. One run at a time may write a given
// output.
Result<DedupReport> run_dedup(const DedupJob& job, Progress& progress, Clock& clock);

}  // namespace kin::dedup
