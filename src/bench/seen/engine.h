// The interface of the engines that the seen benchmark compares.
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
  // Adds the ids and sets was_new[i] to 1 where ids[i] was new. Durable on return.
  virtual Status insert(std::span<const std::uint64_t> ids, std::span<std::uint8_t> was_new) = 0;
  virtual Result<bool> contains(std::uint64_t id) = 0;
  virtual Status contains(std::span<const std::uint64_t> ids, std::span<std::uint8_t> found) = 0;
  // Finishes all flushes and merges.
  virtual Status compact() = 0;
  virtual std::uint64_t memory_bytes() const = 0;
  virtual std::uint64_t filter_bytes() const = 0;
};

struct SeenEngineOptions {
  std::filesystem::path folder;
  std::uint64_t max_memory = std::uint64_t{1} << 30;
  std::uint64_t expected_ids = 0;
};

Result<std::unique_ptr<SeenEngine>> make_seen_set_engine(const SeenEngineOptions& options);

// RocksDB. A batch is looked up with one MultiGet; its new ids are written as one synced batch.
Result<std::unique_ptr<SeenEngine>> make_rocksdb_engine(const SeenEngineOptions& options);
inline constexpr const char* kRocksDbSettings =
    "Bloom filters of 10 bits, also for the write buffer, no compression, write buffer of 64 MiB, "
    "block cache of 64 MiB, 2 background jobs, keys of 8 bytes without values, MultiGet of a "
    "batch, "
    "then one WriteBatch with sync";

}  // namespace kin::bench
