// Files that are not on this machine, by address: "s3://bucket/corpus/a.parquet".
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"

namespace kin::data {

// Whether `name` is the address of a remote file or folder.
bool is_remote(const std::filesystem::path& name);

struct RemoteFile {
  std::string name;  // its full address
  std::uint64_t bytes = 0;
  std::string version;  // changes with the contents
  friend bool operator==(const RemoteFile&, const RemoteFile&) = default;
};

// A file that was sent but is not visible yet. Destroyed without publish(), it leaves nothing
// behind. One thread only.
class RemoteUpload {
 public:
  virtual ~RemoteUpload() = default;
  // Makes it appear under its name, complete, and replaces an existing file.
  virtual Status publish() = 0;
};

// Reads and writes remote files. Thread-safe.
class RemoteFiles {
 public:
  virtual ~RemoteFiles() = default;
  // All files whose address begins with `prefix`, sorted by their bytes.
  virtual Result<std::vector<RemoteFile>> list(const std::string& prefix) = 0;
  // Nothing if there is no such file.
  virtual Result<std::optional<RemoteFile>> look(const std::string& name) = 0;
  // Opens a file to read. kFailedPrecondition, by a later read, if it has another version by now.
  virtual Result<File> open(const RemoteFile& file) = 0;
  // A path on this machine with all its bytes, valid as long as this object.
  virtual Result<std::filesystem::path> copy(const RemoteFile& file) = 0;
  // An error if we may not write a file of this name.
  virtual Status check_writable(const std::string& name) = 0;
  // Sends the file at `from`, which must stay until the upload is published.
  virtual Result<std::unique_ptr<RemoteUpload>> upload(const std::filesystem::path& from,
                                                       const std::string& name) = 0;
  // A small file as a whole; nothing if there is none.
  virtual Result<std::optional<std::string>> read(const std::string& name) = 0;
  // Replaces a small file.
  virtual Status write(const std::string& name, std::string bytes) = 0;
  // A missing file is not an error.
  virtual Status remove(const std::string& name) = 0;
};

}  // namespace kin::data
