// Cutting, as a stage of a run.
#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <optional>

#include "base/file.h"
#include "base/record_set.h"
#include "base/result.h"
#include "dedup/cut/cuts.h"
#include "dedup/report.h"

namespace kin::dedup {

// Finds the cuts, then passes them to the writer of the output and writes the log beside it. One
// thread only, except work().
class CutStage {
 public:
  static Result<std::unique_ptr<CutStage>> run(const CutInput& input);

  std::uint64_t rows() const { return outcome_.rows; }
  const data::RecordEdits* edits() const { return outcome_.cuts.get(); }
  const RecordSet& emptied() const { return outcome_.cuts->emptied(); }
  // Adds its counts to the report.
  void count(DedupReport& report) const;

  // Makes an empty log under a temporary name. Call it before work().
  Status open_log(const std::filesystem::path& path);
  // Writes the log, if there is one, in the first call. Thread-safe.
  Status work();
  Status commit();

 private:
  explicit CutStage(CutOutcome outcome) : outcome_(std::move(outcome)) {}

  CutOutcome outcome_;
  std::optional<AtomicFile> log_;
  std::atomic<bool> begun_{false};
};

}  // namespace kin::dedup
