// Datasets on other machines, for the verbs that read and write them.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cloud/s3_files.h"
#include "dedup/options.h"
#include "dedup/run.h"
#include "dedup/uploads.h"

namespace kin::app {

// Opened if a command names addresses ("s3://bucket/corpus/*.parquet"), with AWS's environment.
// Outlives the run. One thread only.
class RemoteAccess {
 public:
  // Lets `options` read `inputs` and the references, if one is an address or `needed` is true.
  static RemoteAccess for_inputs(dedup::DedupOptions& options, std::span<const std::string> inputs,
                                 bool needed = false);
  // Lets `job` read its inputs and write its outputs.
  static Result<RemoteAccess> for_job(dedup::DedupJob& job, bool needed = false);

  // Sends outputs that were written after the run.
  Status publish() { return uploads_ != nullptr ? uploads_->publish() : Status(Done{}); }
  // The error with the names that the user knows.
  Error shown(Error error) const;

 private:
  void open(dedup::DedupOptions& options, const std::optional<std::filesystem::path>& folder);

  std::unique_ptr<cloud::S3Files> files_;
  std::unique_ptr<dedup::Uploads> uploads_;  // destroyed first
};

// S3 with AWS's environment; copies of the bytes read go to `folder`, or to the system's folder
// for temporary files.
std::unique_ptr<cloud::S3Files> open_s3_files(const std::optional<std::filesystem::path>& folder);

}  // namespace kin::app
