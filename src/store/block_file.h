// The file under a store, as an interface, so that tests can make reads and writes fail.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/file.h"
#include "base/result.h"

namespace kin::store {

// Reads are thread-safe, also beside writes to other parts of the file; writes are for one thread
// at a time.
class BlockFile {
 public:
  virtual ~BlockFile() = default;
  // Exactly `count` bytes at `offset`; running into the end is an error (kDataLoss).
  virtual Status read_at(std::uint64_t offset, char* to, std::size_t count) const = 0;
  virtual Status write_at(std::uint64_t offset, std::string_view bytes) = 0;
  // Returns once everything written is on the device.
  virtual Status sync() = 0;
  virtual Status truncate(std::uint64_t size) = 0;
  virtual Result<std::uint64_t> size() const = 0;
};

using OpenBlockFile =
    std::function<Result<std::unique_ptr<BlockFile>>(const std::filesystem::path& path)>;

// Opens or makes a real file and locks it: kFailedPrecondition if another store has it open.
Result<std::unique_ptr<BlockFile>> open_block_file(const std::filesystem::path& path);

// Where a store keeps its files.
struct Placement {
  // The folder to keep them in, made if it does not exist and opened again with its contents.
  // Nothing: a folder of the store's own whose files go away with the store.
  std::optional<std::filesystem::path> path = std::nullopt;
  // Where that folder of its own is made; nothing is the system's folder for temporary files.
  std::optional<std::filesystem::path> temporary_parent = std::nullopt;
  OpenBlockFile open_file = open_block_file;
};

// The block file `name` in the folder of `placement`. A temporary one has no name left once it is
// open, so that the system frees its space even if this process is killed.
Result<std::unique_ptr<BlockFile>> open_placed(const Placement& placement, std::string_view name);

}  // namespace kin::store
