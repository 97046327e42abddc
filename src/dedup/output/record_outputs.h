// Writes the kept and the skipped records of a run.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/record_set.h"
#include "base/result.h"
#include "data/dataset.h"
#include "dedup/output/shards.h"
#include "dedup/run.h"
#include "dedup/spill/budget.h"

namespace kin::dedup {

// One file, a file for each input, or standard output; and the quarantine. Destroyed without
// commit(), it leaves nothing behind. One thread only.
class RecordOutputs {
 public:
  // Checks that the outputs of `job`, which must outlive it, can be made from these inputs, and
  // reports what they will not keep.
  static Result<RecordOutputs> open(const DedupJob& job, data::Dataset& dataset);

  // Writes the records in `keep`, and those that `dataset` skipped. Adds to `notes`.
  Status write(data::Dataset& dataset, const RecordSet& keep, const data::WriteOptions& how,
               const data::DatasetOptions& options, std::vector<std::string>& notes);
  // Returns when the written records are on the device; otherwise commit() waits for it.
  Status sync();
  // The file of the skipped records; empty if there is none.
  std::string quarantine() const;
  // The records come last: if they are in place, everything else is too.
  Status commit_quarantine();
  Status commit();

 private:
  explicit RecordOutputs(const DedupJob& job) : job_(&job) {}
  Status write_skipped(const data::Dataset& dataset);

  const DedupJob* job_;
  std::optional<Shards> shards_;
  std::optional<data::StagedOutput> records_;
  std::optional<data::StagedOutput> skipped_;
};

// Notes the memory to read `read` and to write the records of `own`. `settled` are the options of
// the job with the columns that the inputs have.
Status measure_io(const DedupJob& job, const DedupOptions& settled, data::Dataset& read,
                  data::Dataset& own, MemoryNeeds& needs);

}  // namespace kin::dedup
