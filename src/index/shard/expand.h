// Finds the neighbours of hits, and the scores that links pass on to them.
#pragma once

#include <span>
#include <vector>

#include "base/result.h"
#include "index/neighbours.h"
#include "index/query.h"
#include "index/view.h"

namespace kin::index {

// Entities within reach, best first; ties are broken by the lower number. See spread(). The walk
// obeys only `as_of` and `partitions` of the scope. Thread-safe.
Result<std::vector<Neighbour>> neighbours_of(const ShardView& view, std::span<const Seed> seeds,
                                             const Expansion& expand, const Scope& scope);

}  // namespace kin::index
