// What is within reach, and by which way?
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "base/result.h"
#include "index/graph/edges.h"

namespace kin::index {

// What happens at a node that is not there: never added, deleted, or not valid at the filter's
// `as_of`.
enum class Missing { kSkip, kVisit };

struct TraverseRequest {
  std::vector<DocId> from = {};  // in the result with 0 hops, unless missing and skipped
  Direction direction = Direction::kOut;
  EdgeFilter filter = {};
  std::uint32_t hops = 1;
  Missing missing = Missing::kSkip;
  std::size_t max_nodes = 10'000;
  std::size_t max_edges = 100'000;   // looked at
  std::size_t max_fan_out = 10'000;  // of one node
  // Nodes in other partitions count as missing. Nothing: all partitions.
  std::optional<std::set<PartitionId>> partitions = {};
};

struct Reached {
  DocId id = {};
  std::uint32_t hops = 0;  // the fewest
  DocId by = {};           // the node before it; itself with 0 hops
};

struct Traversal {
  std::vector<Reached> nodes;    // by hops, once each
  std::vector<GraphEdge> edges;  // that were looked at and join two of the nodes, once each
  bool complete = true;          // no limit but that of hops was met
};

// Breadth first; cycles do no harm.
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
  std::size_t max_edges = 1'000'000;  // looked at
};

struct Path {
  std::vector<DocId> nodes;      // from first to last
  std::vector<GraphEdge> edges;  // one fewer
  double cost = 0;
};

// A cheapest path; nothing if there is none within max_hops. kResourceExhausted if max_edges were
// looked at before that was known.
Result<std::optional<Path>> shortest_path(const TruthView& view, const PathRequest& request);

}  // namespace kin::index
