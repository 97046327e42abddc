// What the benchmark of the seen set asks of each contestant.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

#include "base/result.h"

namespace kin::bench {

// One thread only.
class SeenEngine {
 public:
  virtual ~SeenEngine() = default;
  // Adds the ids, says which were new, and returns once that is durable.
  virtual Status insert(std::span<const std::uint64_t> ids, std::span<std::uint8_t> was_new) = 0;
  virtual Result<bool> contains(std::uint64_t id) = 0;
  virtual Status contains(std::span<const std::uint64_t> ids, std::span<std::uint8_t> found) = 0;
  // Writes out and merges whatever is due.
  virtual Status settle() = 0;
  virtual std::uint64_t memory_bytes() const = 0;
  virtual std::uint64_t filter_bytes() const = 0;
};

struct SeenEngineOptions {
  std::filesystem::path folder;
  std::uint64_t max_memory = std::uint64_t{1} << 30;
  std::uint64_t expected_ids = 0;
};

Result<std::unique_ptr<SeenEngine>> make_seen_set_engine(const SeenEngineOptions& options);

// RocksDB for the same job: a batch is looked up at once, and what is new of it is written as one
// synced batch.
Result<std::unique_ptr<SeenEngine>> make_rocksdb_engine(const SeenEngineOptions& options);
inline constexpr const char* kRocksDbSettings =
    "Bloom filters of 10 bits, also of the write buffer, no compression, write buffer of 64 MiB, "
    "block cache of 64 MiB, 2 "
    "background jobs, keys of 8 bytes without values, MultiGet of a batch, then one WriteBatch "
    "with "
    "sync";

}  // namespace kin::bench
