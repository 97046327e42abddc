// Benchmark of the vector index against hnswlib on the same vectors.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace kin::bench {

struct VectorsBench {
  std::filesystem::path folder = ".deps/bench";  // where scripts/setup --bench puts the data
  std::vector<std::string> sets{"glove", "mnist", "glove-all"};
  bool peer = true;
  int runs = 3;
  std::uint32_t cell_size = 200;
  std::uint32_t bits = 0;  // 0: the default of the set
};

// One thread throughout; seconds are processor time.
struct VectorsFigures {
  struct Point {
    std::uint32_t effort = 0;  // cells scanned, or hnswlib's ef
    double recall = 0;         // at 10
    double queries = 0;        // per second
  };
  struct Engine {
    std::vector<Point> points;
    double build_seconds = 0;
    double bytes = 0;    // of memory per vector
    double queries = 0;  // per second at the target recall; 0 if it was not reached
  };
  struct Filtered {
    double share = 0;
    double recall = 0;
    double queries = 0;
  };
  struct Set {
    std::string name;
    std::uint64_t vectors = 0;
    std::uint32_t dimension = 0;
    std::uint32_t bits = 0;
    double aim = 0;  // target recall
    Engine ours;
    std::optional<Engine> peer;
    Point by_default;  // a search without options
    std::vector<Filtered> filtered;
  };
  std::vector<Set> sets;
};

Result<VectorsFigures> bench_vectors(const VectorsBench& bench);

std::string to_json(const VectorsFigures& figures);
std::string to_table(const VectorsFigures& figures);

}  // namespace kin::bench
