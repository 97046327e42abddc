// Finds the neighbours of hits, and the scores that links pass on to them.
#pragma once

#include <span>
#include <vector>

#include "base/result.h"
#include "index/graph.h"
#include "index/query.h"
#include "index/view.h"

namespace kin::index {

// Where the walk begins, and the score that it passes on.
struct Seed {
  DocId id = {};
  double score = 0;
};

struct Neighbour {
  std::uint32_t number = 0;
  DocId id = {};
  double score = 0;  // by the best way, of at least one hop
  GraphTrace trace = {};
};

// Entities within reach, best first; ties are broken by the lower number. A seed is among them if a
// way leads to it from another seed. An edge passes on the score of its start times `decay` times
// its weight. Weights above 1 are divided by the heaviest weight of all edges walked; weights of 0
// and below pass on nothing. If two ways give the same score, the one with fewer hops counts. The
// walk obeys only `as_of` and `partitions` of the scope. Thread-safe.
Result<std::vector<Neighbour>> neighbours_of(const ShardView& view, std::span<const Seed> seeds,
                                             const Expansion& expand, const Scope& scope);

}  // namespace kin::index
