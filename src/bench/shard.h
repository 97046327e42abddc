// How fast a shard takes entities in, and how soon it answers after a crash: figures of
// docs/benchmarks.md.
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
  std::uint32_t words = 100;                      // of a text
  std::filesystem::path vectors = ".deps/bench";  // where scripts/setup --bench puts the vectors
  std::optional<std::filesystem::path> folder{};  // where to work; else the system's temporary one
  bool near_duplicates = false;
};

// Each entity has a vector of 100 numbers, a text and two edges; batches are on the device before
// the next one begins, while another thread steps.
struct ShardFigures {
  ShardBench bench;
  bool real_vectors = false;
  struct Slice {
    std::uint64_t entities = 0;     // there at its end
    double inserts = 0;             // a second
    double limit = 0;               // a second, if writing and syncing the same bytes were all
    double empty = 0;               // a second, into an empty shard just after it
    double processor = 0;           // microseconds of the writing thread, an entity
    double worst_milliseconds = 0;  // of a batch
  };
  std::vector<Slice> slices;
  std::uint64_t pending = 0;  // vectors without a cell when it was killed
  double reopen_seconds = 0;  // after a kill, to the first answer of text and of vectors
  double steady_bytes = 0;    // resident after that
  double peak_bytes = 0;      // while it was filled
  double disk_bytes = 0;
  std::uint64_t replayed = 0;  // changes
};

Result<ShardFigures> bench_shard(const ShardBench& bench);

std::string to_json(const ShardFigures& figures);
std::string to_table(const ShardFigures& figures);

}  // namespace kin::bench
