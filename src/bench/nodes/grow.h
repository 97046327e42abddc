// Recall of vector searches over several shards, while the index grows and its partitions change.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace kin::bench {

struct GrowBench {
  std::optional<std::filesystem::path> vectors = {};  // a folder with glove100.f32
  std::uint64_t nodes = 4;
  std::uint64_t partitions = 64;
  std::uint64_t queries = 400;
  std::uint64_t clumped = 12'000;                 // generated vectors, in clumps
  std::uint64_t most_vectors = 60'000;            // of the file
  double recall = 0.95;                           // that searches ask for
  std::optional<std::filesystem::path> folder{};  // none: the system's temporary folder
};

struct GrowFigures {
  GrowBench bench = {};
  // Of searches for ten among those vectors that the index has then; recall is measured against
  // exact search.
  struct Stage {
    std::string name = {};
    std::uint64_t vectors = 0;
    std::uint64_t partitions = 0;
    double one = 0;          // recall of one shard
    double many = 0;         // of all, through the router
    double all = 0;          // the same, if no shard is passed over
    double old_visited = 0;  // share of the shards asked for vectors like those of the sample
    double visited = 0;      // for all
    double skew = 0;         // vectors of the largest shard, as a multiple of the mean
  };
  struct Set {
    std::string name = {};
    std::vector<Stage> stages = {};
  };
  std::vector<Set> sets = {};
};

// Shards of this process. A quarter of the vectors is there before the others, which are in other
// places than the sample; then partitions are split, moved and trained again.
Result<GrowFigures> bench_grow(const GrowBench& bench);

std::string to_json(const GrowFigures& figures);
std::string to_table(const GrowFigures& figures);

}  // namespace kin::bench
