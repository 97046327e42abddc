#include "dedup/outputs.h"

#include <fmt/format.h>

#include "base/file.h"
#include "dedup/audit.h"

namespace kin::dedup {
namespace fs = std::filesystem;
namespace {

// Every path the job writes.
std::vector<fs::path> outputs_of(const DedupJob& job) {
  std::vector<fs::path> outputs;
  if (has_output_file(job)) outputs.push_back(job.output);
  if (const auto removed = removed_output_of(job)) outputs.push_back(*removed);
  if (job.groups_output) outputs.push_back(*job.groups_output);
  if (job.report_output) outputs.push_back(*job.report_output);
  return outputs;
}

Status check_writable(const fs::path& output) {
  const fs::path folder = output.has_parent_path() ? output.parent_path() : fs::path(".");
  if (!fs::is_directory(folder)) {
    return Error{Code::kNotFound,
                 fmt::format("cannot write {}: the folder {} does not exist (make it first)",
                             output.string(), folder.string())};
  }
  if (fs::is_directory(output)) {
    return Error{
        Code::kInvalidArgument,
        fmt::format("cannot write {}: it is a folder (name a file in it)", output.string())};
  }
  KIN_RETURN_IF_ERROR(AtomicFile::create(output));
  return Done{};
}

}  // namespace

bool has_output_file(const DedupJob& job) {
  return !job.options.dry_run && job.output != "-";
}

std::optional<fs::path> removed_output_of(const DedupJob& job) {
  if (job.options.dry_run) return {};
  if (job.removed_output) return job.removed_output;
  if (job.output == "-") return {};
  return removed_path(job.output);
}

Status check_outputs(const DedupJob& job) {
  if (has_output_file(job)) KIN_RETURN_IF_ERROR(data::file_type(job.output));
  for (const fs::path& output : outputs_of(job)) KIN_RETURN_IF_ERROR(check_writable(output));
  return Done{};
}

Status check_outputs_against(const DedupJob& job, const std::vector<data::Input>& inputs) {
  for (const data::Input& input : inputs) {
    for (const fs::path& output : outputs_of(job)) {
      std::error_code ignored;  // a path that does not exist is no input
      if (!fs::equivalent(input.path, output, ignored)) continue;
      return Error{Code::kInvalidArgument,
                   fmt::format("{} is an input and an output (inputs are never changed: choose "
                               "another output)",
                               output.string())};
    }
  }
  return Done{};
}

}  // namespace kin::dedup
