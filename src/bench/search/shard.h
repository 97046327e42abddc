// Benchmark of a shard: durable inserts, and the first answer after a crash.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace kin::bench {

struct ShardBench {
  std::uint64_t entities = 300'000;
  std::uint64_t batch = 100;
  std::uint32_t words = 100;                      // per text
  std::filesystem::path vectors = ".deps/bench";  // where scripts/setup --bench puts the vectors
  std::optional<std::filesystem::path> folder{};  // none: the system's temporary folder
  bool near_duplicates = false;
};

// Each entity has a vector of 100 numbers, a text and two edges. A batch is durable before the next
// begins; another thread runs Shard::step().
struct ShardFigures {
  ShardBench bench;
  bool real_vectors = false;
  struct Slice {
    std::uint64_t entities = 0;     // in the shard at the end of the slice
    double inserts = 0;             // per second
    double limit = 0;               // per second, for writing and syncing the same bytes alone
    double empty = 0;               // per second, into an empty shard, measured right after
    double processor = 0;           // microseconds of the writing thread per entity
    double worst_milliseconds = 0;  // slowest batch
  };
  std::vector<Slice> slices;
  std::uint64_t pending = 0;  // vectors without a cell at the kill
  double reopen_seconds = 0;  // from open to the first answers by text and by vector
  double steady_bytes = 0;    // resident memory after that
  double peak_bytes = 0;      // resident memory while filling
  double disk_bytes = 0;
  std::uint64_t replayed = 0;  // changes replayed from the log
};

Result<ShardFigures> bench_shard(const ShardBench& bench);

std::string to_json(const ShardFigures& figures);
std::string to_table(const ShardFigures& figures);

}  // namespace kin::bench
