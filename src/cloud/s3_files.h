// Datasets in buckets: objects as files, read in ranges and written in parts.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "cloud/call_counts.h"
#include "cloud/cloud_options.h"
#include "cloud/s3_client.h"
#include "data/remote_files.h"

namespace kin::cloud {

struct S3FilesOptions {
  CloudOptions cloud = {};
  S3Options::Style style = S3Options::Style::kVirtualHost;
  // The folder for copies of the bytes that were read, in a file without a name: nothing is fetched
  // twice, and nothing is left when the process ends, even if it is killed. Nothing: the system's
  // folder for temporary files.
  std::optional<std::filesystem::path> folder = {};
  // Limit of the copies in bytes; the oldest are dropped first and fetched again if they are
  // needed. 0: half of the free space in the folder.
  std::uint64_t copy_bytes = 0;
};

// Files at "s3://BUCKET/KEY". An open file is read in ranges of 1 MiB and more, several at a time
// if it is read from front to back; each answer is checked to be of the version that was found.
// At most 16 MiB are in flight. An object of one part is put when it is published; a larger one
// is completed then. Thread-safe. Borrows the clock.
class S3Files : public data::RemoteFiles {
 public:
  S3Files(S3FilesOptions options, Clock& clock, std::uint64_t seed);
  ~S3Files() override;

  Result<std::vector<data::RemoteFile>> list(const std::string& prefix) override;
  Result<std::optional<data::RemoteFile>> look(const std::string& name) override;
  Result<File> open(const data::RemoteFile& file) override;
  Result<std::filesystem::path> copy(const data::RemoteFile& file) override;
  Status check_writable(const std::string& name) override;
  Result<std::unique_ptr<data::RemoteUpload>> upload(const std::filesystem::path& from,
                                                     const std::string& name) override;
  Result<std::optional<std::string>> read(const std::string& name) override;
  Status write(const std::string& name, std::string bytes) override;
  Status remove(const std::string& name) override;

  CallCounts counts() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kin::cloud
