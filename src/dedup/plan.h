// Predicts the resources of a run.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "dedup/run.h"

namespace kin::dedup {

struct Plan {
  std::vector<std::string> inputs;
  std::uint64_t input_bytes = 0;
  std::uint64_t documents = 0;
  bool documents_exact = false;
  std::uint64_t text_bytes = 0;
  std::uint64_t sample_documents = 0;

  double exact_share = 0;  // of the documents: removed as exact duplicates
  double near_share = 0;   // removed as near-duplicates
  std::uint64_t removed = 0;

  std::uint64_t memory_bytes = 0;     // resident, at the peak
  std::uint64_t temporary_bytes = 0;  // on disk, while it runs
  std::uint64_t output_bytes = 0;     // on disk afterwards: output and audit log
  double seconds = 0;
  std::vector<std::pair<std::string, double>> stage_seconds;

  DedupOptions options;
  std::vector<std::string> notes;
  bool fits = true;  // false: a note says which limit the run would break

  std::uint64_t disk_bytes() const { return temporary_bytes + output_bytes; }
};

// Reads the metadata of the files and a sample of their records, runs the whole job on the sample
// (with as many duplicates as the input seems to have) in a temporary folder, and extrapolates.
// Writes nothing else. `job.output` may be empty: the output then has the input's format. For good
// predictions the machine should be as idle or busy as during the run.
Result<Plan> make_plan(const DedupJob& job, Progress& progress, Clock& clock);

}  // namespace kin::dedup
