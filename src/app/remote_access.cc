#include "app/remote_access.h"

#include <algorithm>
#include <random>
#include <system_error>

#include "base/clock.h"
#include "data/remote_files.h"

namespace kin::app {
namespace fs = std::filesystem;
namespace {

bool any_remote(std::span<const std::string> names) {
  return std::any_of(names.begin(), names.end(),
                     [](const std::string& name) { return data::is_remote(name); });
}

bool writes_remote(const dedup::DedupJob& job) {
  const auto is = [](const std::optional<fs::path>& path) {
    return path && data::is_remote(*path);
  };
  return data::is_remote(job.output) || is(job.removed_output) || is(job.quarantine_output) ||
         is(job.groups_output) || is(job.cut_output) || is(job.report_output);
}

// The folder where the run works, so that copies go to the same disk.
std::optional<fs::path> work_parent(const dedup::DedupJob& job) {
  if (job.options.temporary_folder) return job.options.temporary_folder;
  if (job.output.empty() || job.output == "-" || data::is_remote(job.output)) return {};
  fs::path parent = job.output.parent_path();
  if (!job.output.has_filename()) parent = parent.parent_path();
  return parent.empty() ? fs::path(".") : parent;
}

}  // namespace

std::unique_ptr<cloud::S3Files> open_s3_files(const std::optional<fs::path>& folder) {
  cloud::S3FilesOptions options;
  options.cloud = cloud::options_of_environment("S3");
  options.style = options.cloud.endpoint.empty() ? cloud::S3Options::Style::kVirtualHost
                                                 : cloud::S3Options::Style::kPath;
  options.folder = folder;
  std::error_code ignored;  // creating the first file in it reports the error
  if (folder) fs::create_directories(*folder, ignored);
  std::random_device device;
  return std::make_unique<cloud::S3Files>(std::move(options), system_clock(),
                                          std::uint64_t{device()} << 32 | device());
}

void RemoteAccess::open(dedup::DedupOptions& options, const std::optional<fs::path>& folder) {
  files_ = open_s3_files(folder);
  options.remote = files_.get();
}

RemoteAccess RemoteAccess::for_inputs(dedup::DedupOptions& options,
                                      std::span<const std::string> inputs, bool needed) {
  RemoteAccess access;
  if (needed || any_remote(inputs) || any_remote(options.against))
    access.open(options, options.temporary_folder);
  return access;
}

Result<RemoteAccess> RemoteAccess::for_job(dedup::DedupJob& job, bool needed) {
  RemoteAccess access;
  const bool writes = writes_remote(job);
  if (!needed && !writes && !any_remote(job.inputs) && !any_remote(job.options.against))
    return access;
  access.open(job.options, work_parent(job));
  if (!writes) return access;
  std::error_code failure;
  const dedup::UploadPlace place{
      .parent = job.options.temporary_folder.value_or(fs::temp_directory_path(failure)),
      .service = cloud::options_of_environment("S3").endpoint};
  if (failure) return system_error("find", "the folder for temporary files", failure.value());
  KIN_TRY(access.uploads_, dedup::Uploads::redirect(job, *access.files_, place));
  return access;
}

Error RemoteAccess::shown(Error error) const {
  if (uploads_ != nullptr) error.message = uploads_->shown_in(std::move(error.message));
  return error;
}

}  // namespace kin::app
