// The bytes of an object, fetched in ranges and kept on disk.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "cloud/s3_client.h"

namespace kin::cloud {

class ObjectContents;

// Shared by the copies of all objects: one file for them, and the bytes in flight. Thread-safe.
class CopySpace {
 public:
  // The file has no name and lies in `folder`. It has room for about `most_bytes`.
  CopySpace(std::optional<std::filesystem::path> folder, std::uint64_t most_bytes)
      : folder_(std::move(folder)), most_blocks_(most_bytes / kBlock + 1) {}

  static constexpr std::uint64_t kBlock = std::uint64_t{1} << 20;
  static constexpr std::uint64_t kWindow = 4;  // blocks that are fetched together
  static constexpr int kFetches = 4;           // windows in flight

 private:
  friend class ObjectContents;
  struct Place {
    ObjectContents* object;
    std::uint64_t block;
  };

  // A place for a block in the file. Called with the lock held.
  Result<std::uint64_t> take_slot();

  const std::optional<std::filesystem::path> folder_;
  const std::uint64_t most_blocks_;
  std::mutex mutex_;  // guards everything here, and the blocks of all objects
  std::condition_variable changed_;
  std::optional<File> file_;
  std::uint64_t slots_ = 0;
  std::vector<std::uint64_t> free_slots_;
  std::deque<Place> kept_;  // in the order in which they were fetched
  int fetches_ = 0;
};

// Reads an object whose ETag is known. A block of 1 MiB is fetched when a byte of it is needed, and
// the blocks after it too if the one before it was read. Thread-safe. Borrows client and space.
class ObjectContents : public FileContents {
 public:
  ObjectContents(S3Client& client, ObjectInfo object, CopySpace& space);

  Status read_at(std::uint64_t offset, char* to, std::size_t count) override;
  std::uint64_t size() const override { return object_.size; }
  // Makes a file with all bytes, without a name. Returns a path under which this process can open
  // it.
  Result<std::filesystem::path> whole();

 private:
  enum class State : std::uint8_t { kAbsent, kFetching, kPresent };
  struct Block {
    State state = State::kAbsent;
    std::uint32_t readers = 0;  // a block that is read is not dropped
    std::uint64_t slot = 0;     // in the file of the copies
  };

  std::uint64_t block_bytes(std::uint64_t block) const;
  // Makes the blocks from `first` to `last` present and marks them as being read.
  Status hold(std::uint64_t first, std::uint64_t last);
  void let_go(std::uint64_t first, std::uint64_t last);
  // The number of blocks to fetch together with `block`, which is missing.
  std::uint64_t window(std::uint64_t block, std::uint64_t last) const;
  Status fetch(std::uint64_t first, std::uint64_t count);
  Status read_block(std::uint64_t block, std::uint64_t begin, char* to, std::size_t count);

  S3Client& client_;
  const ObjectInfo object_;
  CopySpace& space_;
  std::vector<Block> blocks_;
  std::mutex whole_mutex_;
  std::optional<File> whole_;

  friend class CopySpace;
};

}  // namespace kin::cloud
