// Runs dedup over a sample and measures it, to predict what the whole input needs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "data/dataset.h"
#include "dedup/output/removed_log.h"
#include "dedup/run.h"

namespace kin::dedup {

// A record of the sample: its values, by column.
using TrialRecord = std::vector<std::optional<std::string>>;

// The input of a trial. `filler` bytes are added to each record of JSONL, for the columns that are
// not read.
struct TrialInput {
  const std::vector<std::string>& columns;
  const std::vector<TrialRecord>& records;
  std::size_t filler = 0;
};

struct Trial {
  DedupReport report;
  std::vector<Fate> fates;
  std::map<std::string, std::uint64_t> memory;  // by stage: the most above the memory held before
  std::uint64_t input_bytes = 0;                // of the file it read
  std::uint64_t output_bytes = 0;
  std::uint64_t log_bytes = 0;   // the audit log
  std::uint64_t disk_bytes = 0;  // the most on disk at one time, these included

  double seconds(const std::string& stage) const;
};

// Runs dedup over `input`, written as a file of the type `from`, to one of the type `to`, in
// `folder`. One at a time in a process: memory is measured from outside.
struct TrialPlace {
  data::FileType from;
  data::FileType to;
  const std::filesystem::path& folder;
};
Result<Trial> run_trial(const TrialInput& input, const TrialPlace& place,
                        const DedupOptions& options, Clock& clock);

// "data.jsonl.gz" for gzipped JSONL.
std::string file_name(std::string_view stem, data::FileType type);

}  // namespace kin::dedup
