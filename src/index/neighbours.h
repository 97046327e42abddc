// Neighbours of hits: the scores that links pass on. For one shard, and for a caller that walks
// over the edges of several.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "index/graph.h"
#include "index/query.h"

namespace kin::index {

// Where the walk begins, and the score that it passes on.
struct Seed {
  DocId id = {};
  double score = 0;
};

struct Neighbour {
  std::uint32_t number = 0;  // 0 if several shards were asked
  DocId id = {};
  double score = 0;  // by the best way, of at least one hop
  GraphTrace trace = {};
};

// The starts of a graph leg, each once.
std::vector<Seed> seeds_of(const GraphStart& start);

// The walk that reaches all neighbours. It obeys `as_of` of the scope, and nothing else.
TraverseRequest walk_from(std::span<const Seed> seeds, const Expansion& expand, const Scope& scope);

// The nodes of such a walk that a score reaches, in its order. A seed is among them if a way leads
// to it from another seed. An edge passes on the score of its start times `decay` times its weight.
// Weights above 1 are divided by the heaviest weight of all edges walked; weights of 0 and below
// pass on nothing. If two ways give the same score, the one with fewer hops counts.
std::vector<Neighbour> spread(const Traversal& found, std::span<const Seed> seeds,
                              const Expansion& expand);

// Lets a hit have the score that links give it, which is more than its own. `rank` counts such
// hits.
void lift(ShardHit& hit, Neighbour neighbour, std::uint32_t rank);

}  // namespace kin::index
