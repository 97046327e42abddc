// The file system as an interface. Stores that must survive crashes use it, so that the same code
// runs on the system's files and on a simulated disk that loses power.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kin {

// An open file. Reads are thread-safe, also while another thread writes to other bytes. Everything
// else is for one thread at a time, and one open file of a name writes at a time. An open file
// stays usable after its name was removed.
class DiskFile {
 public:
  virtual ~DiskFile() = default;
  // Reads exactly `count` bytes at `offset`. kDataLoss if the file ends before that.
  virtual Status read_at(std::uint64_t offset, char* to, std::size_t count) const = 0;
  // Writes all of `bytes` at the end. After an error any part of them may have been written.
  virtual Status append(std::string_view bytes) = 0;
  // Writes all of `bytes` at `offset`, over existing bytes. The file grows if they reach beyond its
  // end; a gap before `offset` reads as zeros. After an error any part may have been written.
  virtual Status write_at(std::uint64_t offset, std::string_view bytes) = 0;
  // Returns once the contents are on the device. Its name is durable only after sync_folder().
  virtual Status sync() = 0;
  virtual Status truncate(std::uint64_t size) = 0;
  virtual Result<std::uint64_t> size() const = 0;
  // Locks the file until it is closed. Fails at once, with kFailedPrecondition, if another open
  // file (of this process or another) holds the lock.
  virtual Status lock() = 0;
};

// Files and folders. Thread-safe. Creating, renaming and removing are durable only after
// sync_folder().
class Disk {
 public:
  virtual ~Disk() = default;
  virtual Result<std::unique_ptr<DiskFile>> open_to_read(const std::filesystem::path& path) = 0;
  // Makes the file, or empties it if it exists.
  virtual Result<std::unique_ptr<DiskFile>> create(const std::filesystem::path& path) = 0;
  // Opens to read and write, and keeps the contents; makes the file if it does not exist.
  virtual Result<std::unique_ptr<DiskFile>> open_to_write(const std::filesystem::path& path) = 0;
  // Makes a file without a name, whose space is freed when it is closed, however the process ends.
  // Its bytes live in `folder`; nothing: in the system's folder for temporary files.
  virtual Result<std::unique_ptr<DiskFile>> create_temporary(
      const std::optional<std::filesystem::path>& folder) = 0;
  // Replaces `to` if it exists.
  virtual Status rename(const std::filesystem::path& from, const std::filesystem::path& to) = 0;
  virtual Status remove(const std::filesystem::path& path) = 0;
  virtual Result<bool> exists(const std::filesystem::path& path) = 0;
  // Makes the folder and its missing parents, durably.
  virtual Status make_folder(const std::filesystem::path& folder) = 0;
  virtual Status sync_folder(const std::filesystem::path& folder) = 0;
  // The names in `folder`, sorted.
  virtual Result<std::vector<std::string>> list(const std::filesystem::path& folder) = 0;
};

// The system's file system. Lives as long as the process.
Disk& system_disk();

// Reads a small file.
Result<std::string> read_whole(Disk& disk, const std::filesystem::path& path);

// Replaces a file by what `write` puts into the new one. After an error or a crash the old or the
// new file is there, whole; after success the new one is durable.
Status replace_file(Disk& disk, const std::filesystem::path& path,
                    const std::function<Status(DiskFile&)>& write);
// The same for a small file.
Status replace_whole(Disk& disk, const std::filesystem::path& path, std::string_view bytes);

}  // namespace kin
