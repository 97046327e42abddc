// What joins by links: the neighbours of what was found.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "index/graph.h"
#include "index/query.h"
#include "index/view.h"

namespace kin::index {

// Where the walk begins, and what it has to pass on.
struct Seed {
  DocId id = {};
  double score = 0;
};

struct Neighbour {
  std::uint32_t number = 0;
  DocId id = {};
  double score = 0;  // by the best way there, of one hop at least
  GraphTrace trace = {};
};

// Entities within reach, seeds too if another way leads to them; best first, of equal scores the
// lower number first. An edge passes on what its start has times `decay` times its weight; weights
// above 1 count against the heaviest of all edges that were walked, those of 0 and less pass on
// nothing. Of equal ways the one of fewer hops counts. Thread-safe.
Result<std::vector<Neighbour>> neighbours_of(const ShardView& view, std::span<const Seed> seeds,
                                             const Expansion& expand, std::optional<Millis> as_of);

}  // namespace kin::index
