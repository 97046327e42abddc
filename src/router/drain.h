// Which moves empty a shard.
#pragma once

#include <vector>

#include "base/result.h"
#include "router/move.h"

namespace kin::router {

// A move of every partition of `shard` to one of the others: the largest first, each to the shard
// that has the fewest entities then, and among equals the fewest partitions. Shards without
// partitions, which were drained before, get none if there are others. `sizes` has the
// entities of all partitions of the index. kInvalidArgument if there is no such shard, or no other
// one. Thread-safe.
Result<std::vector<NewMove>> plan_drain(const ShardMap& map, std::uint32_t shard,
                                        const index::PartitionSizes& sizes);

}  // namespace kin::router
