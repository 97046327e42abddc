// Walks over the edges of a shard: neighbourhoods and shortest paths.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "base/result.h"
#include "index/graph/edges.h"

namespace kin::index {

// How to treat a node without an entity: never put, deleted, or not valid at the filter's `as_of`.
enum class Missing { kSkip, kVisit };

struct TraverseRequest {
  std::vector<DocId> from = {};  // in the result with 0 hops, unless skipped as missing
  Direction direction = Direction::kOut;
  EdgeFilter filter = {};
  std::uint32_t hops = 1;
  Missing missing = Missing::kSkip;
  std::size_t max_nodes = 10'000;
  std::size_t max_edges = 100'000;   // edges to look at
  std::size_t max_fan_out = 10'000;  // of one node
  // Nodes in other partitions count as missing. Nothing: all partitions.
  std::optional<std::set<PartitionId>> partitions = {};
};

struct Reached {
  DocId id = {};
  std::uint32_t hops = 0;  // the least number of hops
  DocId by = {};           // the node before it; itself with 0 hops
};

struct Traversal {
  std::vector<Reached> nodes;    // by hops, once each
  std::vector<GraphEdge> edges;  // the visited edges between two of the nodes, once each
  bool complete = true;          // no limit other than `hops` was reached
};

// Breadth first. Cycles are fine.
Result<Traversal> traverse(const TruthView& view, const TraverseRequest& request);

struct PathRequest {
  DocId from = {};
  DocId to = {};
  Direction direction = Direction::kOut;
  EdgeFilter filter = {};
  Missing missing = Missing::kSkip;
  enum class Cost {
    kHops,
    kWeight,        // the sum of weights, which must not be negative
    kInverseWeight  // the sum of 1 / weight: strong edges are short; weights must be positive
  };
  Cost cost = Cost::kHops;
  std::uint32_t max_hops = 16;        // for kHops
  std::size_t max_edges = 1'000'000;  // edges to look at
};

struct Path {
  std::vector<DocId> nodes;      // from first to last
  std::vector<GraphEdge> edges;  // one fewer
  double cost = 0;
};

// A cheapest path; nothing if there is none within max_hops. kResourceExhausted if the search would
// look at more than max_edges.
Result<std::optional<Path>> shortest_path(const TruthView& view, const PathRequest& request);

}  // namespace kin::index
