// kindred dedup --config: records ingested into stores that runs share.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "app/options.h"
#include "base/result.h"
#include "dedup/run.h"

namespace kin::app {

struct IngestFlags {
  std::optional<std::filesystem::path> config;  // nothing: no shared stores
  std::optional<std::string> run;
  std::optional<std::string> worker;
  std::optional<std::string> source_name;
  std::optional<std::filesystem::path> metrics;
};
void add_ingest_flags(Verb verb, IngestFlags& flags);

struct IngestOutput {
  bool json = false;
  bool quiet = false;
  double progress_seconds = 30;
};
// Runs the job against the stores of the settings file. Returns the exit code.
Result<int> run_ingest_job(const dedup::DedupJob& job, const IngestFlags& flags,
                           const IngestOutput& output, Verb verb);

}  // namespace kin::app
