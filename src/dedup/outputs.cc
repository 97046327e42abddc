#include "dedup/outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/file.h"
#include "data/line_output.h"
#include "dedup/output/audit.h"
#include "dedup/uploads.h"

namespace kin::dedup {
namespace fs = std::filesystem;
namespace {

// Every path the job writes, "-" for standard output.
std::vector<fs::path> outputs_of(const DedupJob& job) {
  std::vector<fs::path> outputs;
  if (!job.options.dry_run && !writes_folder(job)) outputs.push_back(job.output);
  if (const auto quarantine = quarantine_output_of(job)) outputs.push_back(*quarantine);
  if (const auto removed = removed_output_of(job)) outputs.push_back(*removed);
  if (const auto cut = cut_output_of(job)) outputs.push_back(*cut);
  if (job.groups_output) outputs.push_back(*job.groups_output);
  if (job.report_output) outputs.push_back(*job.report_output);
  return outputs;
}

Status check_writable(const fs::path& output) {
  if (output == "-") return Done{};
  std::error_code failure;
  const fs::path folder = output.has_parent_path() ? output.parent_path() : fs::path(".");
  if (!fs::is_directory(folder, failure)) {
    return Error{Code::kNotFound,
                 fmt::format("cannot write {}: the folder {} does not exist (make it first)",
                             output.string(), folder.string())};
  }
  const fs::file_status status = fs::symlink_status(output, failure);
  if (fs::is_directory(status)) {
    return Error{Code::kInvalidArgument,
                 fmt::format("cannot write {}: it is a folder (name a file)", output.string())};
  }
  // An output is renamed into place, which would replace a link or a device by a file.
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    return Error{Code::kInvalidArgument,
                 fmt::format("cannot write {}: it exists and is not a plain file (name another)",
                             output.string())};
  }
  KIN_RETURN_IF_ERROR(AtomicFile::create(output));
  return Done{};
}

// A path that is equal for two names of one file.
fs::path identity(const fs::path& path) {
  std::error_code failure;
  const fs::path resolved = fs::weakly_canonical(path, failure);
  return failure ? path.lexically_normal() : resolved;
}

void remove_leftovers_of(const fs::path& output) {
  if (output == "-") return;
  const fs::path own = temporary_name(output);
  const std::string name = own.filename().string();
  const std::string prefix = name.substr(0, name.rfind("kindred-") + std::strlen("kindred-"));
  const fs::path folder = own.has_parent_path() ? own.parent_path() : fs::path(".");
  std::error_code ignored;  // leftovers are harmless
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const fs::path found = entry.path().filename();
    if (!found.string().starts_with(prefix) || found.extension() != own.extension()) continue;
    fs::remove(entry.path(), ignored);
  }
}

Status check_distinct(const std::vector<fs::path>& outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    for (std::size_t j = i + 1; j < outputs.size(); ++j) {
      if (identity(outputs[i]) != identity(outputs[j])) continue;
      if (outputs[i] == "-") {
        return Error{Code::kInvalidArgument,
                     "two outputs would go to standard output (- can be named once)"};
      }
      return Error{Code::kInvalidArgument,
                   fmt::format("two outputs would go to {} (give each a name of its own)",
                               outputs[i].string())};
    }
  }
  return Done{};
}

}  // namespace

bool writes_folder(const DedupJob& job) {
  std::error_code ignored;  // a path that cannot be examined is not a folder
  return has_output_file(job) &&
         (job.output.string().ends_with('/') || fs::is_directory(job.output, ignored));
}

fs::path output_name(const DedupJob& job) {
  if (!writes_folder(job)) return job.output;
  fs::path name = job.output.lexically_normal();
  if (!name.has_filename()) name = name.parent_path();
  // "." and ".." give no name for the files beside them.
  if (name.filename() == "." || name.filename() == ".." || name.empty())
    name = identity(job.output);
  return name;
}

WorkFolder::Options work_folder_of(const DedupJob& job) {
  WorkFolder::Options options{.parent = job.options.temporary_folder};
  if (is_resumable(job)) {
    options.output = output_name(job);
    options.resume = job.options.resume;
  } else if (!options.parent && has_output_file(job)) {
    const fs::path name = output_name(job);
    options.parent = name.has_parent_path() ? name.parent_path() : fs::path(".");
  }
  return options;
}

bool has_output_file(const DedupJob& job) {
  return !job.options.dry_run && job.output != "-";
}

bool is_resumable(const DedupJob& job) {
  const auto standard_input = std::find(job.inputs.begin(), job.inputs.end(), "-");
  // The state of --contains and the keys that known records share with inputs are not saved for
  // another process.
  return has_output_file(job) && standard_input == job.inputs.end() && !job.options.contains &&
         !job.options.append;
}

namespace {

// The path of the output without its extensions, or of the folder.
std::string stem_of(const DedupJob& job) {
  if (writes_folder(job)) return output_name(job).string();
  constexpr std::string_view kRemoved = ".removed.jsonl";
  const std::string removed = removed_path(output_name(job)).string();
  return removed.substr(0, removed.size() - kRemoved.size());
}

}  // namespace

std::optional<fs::path> removed_output_of(const DedupJob& job) {
  if (job.options.dry_run || job.audit == Audit::kNone) return {};
  if (job.removed_output) return job.removed_output;
  if (job.output == "-" || !removes_records(job.options)) return {};
  if (writes_folder(job)) return output_name(job).string() + ".removed.jsonl";
  return removed_path(job.output);
}

std::optional<fs::path> cut_output_of(const DedupJob& job) {
  if (job.options.dry_run || !job.options.cut) return {};
  if (job.cut_output) return job.cut_output;
  if (job.output == "-") return {};
  return stem_of(job) + ".cut.jsonl";
}

std::optional<fs::path> quarantine_output_of(const DedupJob& job) {
  if (job.options.dry_run || job.options.on_error == data::OnError::kFail) return {};
  if (job.quarantine_output) return job.quarantine_output;
  if (job.output == "-") return {};
  return stem_of(job) + ".quarantine.txt";
}

Status check_outputs(const DedupJob& job) {
  if (has_output_file(job) && !writes_folder(job)) KIN_RETURN_IF_ERROR(data::file_type(job.output));
  for (const auto& output : {removed_output_of(job), job.groups_output, job.report_output}) {
    if (output) KIN_RETURN_IF_ERROR(data::line_output_type(*output));
  }
  const std::vector<fs::path> outputs = outputs_of(job);
  KIN_RETURN_IF_ERROR(check_distinct(outputs));
  for (const fs::path& output : outputs) KIN_RETURN_IF_ERROR(check_writable(output));
  return Done{};
}

void remove_leftovers(const DedupJob& job) {
  for (const fs::path& output : outputs_of(job)) remove_leftovers_of(output);
}

Status check_outputs_against(const DedupJob& job, const std::vector<data::Input>& inputs) {
  for (const data::Input& input : inputs) {
    for (const fs::path& output : outputs_of(job)) {
      const std::string name = shown_name(job, output);
      if (!data::same_file(input, name)) continue;
      return Error{Code::kInvalidArgument,
                   fmt::format("{} is an input and an output (inputs are never changed: choose "
                               "another output)",
                               name)};
    }
  }
  return Done{};
}

}  // namespace kin::dedup
