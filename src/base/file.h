// Files, with errors that name the path and say what to do.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace kin {

// The error of a failed system call on `path`, from errno: "cannot write x.jsonl: no space left
// on device (free some space, or use --temp DIR)".
Error system_error(std::string_view action, const std::filesystem::path& path, int error_number);
// The outcome of a system call that returns 0, or -1 and sets errno.
Status system_status(int returned, std::string_view action, const std::filesystem::path& path);

// The contents of a file that is not one of the system's: an object of another machine.
// Thread-safe.
class FileContents {
 public:
  virtual ~FileContents() = default;
  // As File::read_at().
  virtual Status read_at(std::uint64_t offset, char* to, std::size_t count) = 0;
  virtual std::uint64_t size() const = 0;
};

// An open file. Moved, never copied; closed when destroyed. Reading at an offset is thread-safe;
// appending is for one thread at a time.
class File {
 public:
  static Result<File> open_to_read(const std::filesystem::path& path);
  // A file to read whose bytes come from `contents`. `path` is its name for messages.
  static File reading(std::shared_ptr<FileContents> contents, std::filesystem::path path);
  // Makes the file, or empties it if it exists.
  static Result<File> create(const std::filesystem::path& path);
  // Opens to read and write anywhere, keeping the contents; makes the file if it does not exist.
  static Result<File> open_to_update(const std::filesystem::path& path);
  // Makes a file without a name in `folder`, or in the system's folder for temporary files.
  static Result<File> create_temporary(const std::optional<std::filesystem::path>& folder);
  // Standard input or output, not closed by us.
  static File standard_input();
  static File standard_output();

  File(File&& other) noexcept;
  File& operator=(File&& other) noexcept;
  ~File();

  // Up to `capacity` bytes at the file's own position; 0 at the end.
  Result<std::size_t> read(char* to, std::size_t capacity);
  // Whether read() returns at once, with bytes or at the end of the file. Waits up to `timeout` for
  // that, or until a signal is caught. Always true for files on a disk.
  Result<bool> wait_to_read(std::chrono::milliseconds timeout) const;
  // Reads exactly `count` bytes at `offset`. kDataLoss if the file ends before that.
  Status read_at(std::uint64_t offset, char* to, std::size_t count) const;
  // Writes all of `bytes` at the file's position.
  Status write(std::string_view bytes);
  // Writes all of `bytes` at `offset`, which may lie beyond the end. Thread-safe for disjoint
  // ranges.
  Status write_at(std::uint64_t offset, std::string_view bytes);
  // Starts to write these bytes to the device without waiting, so that a later sync() has less to
  // do. Thread-safe.
  void begin_sync(std::uint64_t offset, std::uint64_t count) const;
  // Returns once everything written is on the device.
  Status sync();
  Status truncate(std::uint64_t size);
  Result<std::uint64_t> size() const;
  // Locks the file until it is closed. Fails at once, with kFailedPrecondition, if another open
  // file (of this process or another) holds the lock. The lock is advisory.
  Status lock();
  // Closes, and reports errors that only show then. The destructor cannot report them.
  Status close();

  const std::filesystem::path& path() const { return path_; }
  // A path under which this process can open the same file once more, also one without a name.
  std::filesystem::path path_of_descriptor() const;

 private:
  File(int descriptor, std::filesystem::path path, bool owned);
  int descriptor_ = -1;
  bool owned_ = true;
  std::shared_ptr<FileContents> contents_;  // nothing: those of the descriptor
  std::uint64_t position_ = 0;              // of read() in contents_
  std::filesystem::path path_;
};

// A file that appears whole or not at all: written under a temporary name in the same folder,
// synced and renamed by commit(). Destroyed without commit, it leaves nothing behind.
class AtomicFile {
 public:
  static Result<AtomicFile> create(const std::filesystem::path& path);
  AtomicFile(AtomicFile&&) noexcept = default;
  AtomicFile& operator=(AtomicFile&&) = delete;
  ~AtomicFile();

  Status write(std::string_view bytes) { return file_.write(bytes); }
  // As File::write_at(). Not to be mixed with write().
  Status write_at(std::uint64_t offset, std::string_view bytes) {
    return file_.write_at(offset, bytes);
  }
  void begin_sync(std::uint64_t offset, std::uint64_t count) const {
    file_.begin_sync(offset, count);
  }
  Status commit();

 private:
  AtomicFile(File file, std::filesystem::path temporary, std::filesystem::path target);
  File file_;
  std::filesystem::path temporary_;
  std::filesystem::path target_;
};

// The name under which `target` is written before it is renamed: hidden, in the same folder, and
// with the target's extension, by which some writers choose the format.
std::filesystem::path temporary_name(const std::filesystem::path& target);

// Makes the names in `folder` durable. An empty path is the current folder.
Status sync_folder(const std::filesystem::path& folder);

// Renames `from` to `to` and makes the change of name durable.
Status rename_durably(const std::filesystem::path& from, const std::filesystem::path& to);

// A new folder, removed with everything in it when the object is destroyed.
class TemporaryFolder {
 public:
  // Under `parent`, or under the system's folder for temporary files.
  static Result<TemporaryFolder> create(const std::optional<std::filesystem::path>& parent = {});
  TemporaryFolder(TemporaryFolder&& other) noexcept;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder();
  const std::filesystem::path& path() const { return path_; }

 private:
  explicit TemporaryFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

// Whether `path` exists. An error if the system cannot tell.
Result<bool> file_exists(const std::filesystem::path& path);

// Reads a small file.
Result<std::string> read_file(const std::filesystem::path& path);
// Replaces a small file atomically.
Status write_file_atomically(const std::filesystem::path& path, std::string_view bytes);

}  // namespace kin
