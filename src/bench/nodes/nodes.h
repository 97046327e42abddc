// Benchmark of an index over nodes: what a router adds to a call, processor time by number of
// nodes, and durable inserts.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace kin::bench {

struct NodesBench {
  std::filesystem::path articles = ".deps/bench/reuters";  // see read_articles()
  std::uint64_t queries = 1'000;
  std::uint64_t batch = 100;  // documents of a request
  std::uint64_t callers = 4;  // requests under way while documents are added
  std::vector<std::uint64_t> nodes = {1, 2, 4, 8};
  int rounds = 1;  // of inserts, each into new shards; the median is reported
  std::optional<std::filesystem::path> folder{};  // none: the system's temporary folder
};

// Times in milliseconds.
struct LatencyFigures {
  double p50 = 0;
  double p99 = 0;
};

struct NodesFigures {
  NodesBench bench = {};
  std::uint64_t documents = 0;
  // The same questions to the one node of a fleet, in turns: over its gRPC method, and as HTTP
  // requests to the router. Only if the bench has a fleet of one node.
  LatencyFigures direct = {};
  LatencyFigures routed = {};
  struct Step {
    std::uint64_t nodes = 0;
    double local = 0;    // inserts per second, into one shard of this process, a batch at a time
    double inserts = 0;  // per second, through the router
    double share = 0;    // of `inserts` in `local`: median of the rounds
    LatencyFigures routed = {};
    double visited = 0;    // shards that searched, per question
    double processor = 0;  // milliseconds of all nodes and the router, per question
    double router = 0;     // the router's part
  };
  std::vector<Step> steps = {};
};

Result<NodesFigures> bench_nodes(const NodesBench& bench);

std::string to_json(const NodesFigures& figures);
std::string to_table(const NodesFigures& figures);

}  // namespace kin::bench
