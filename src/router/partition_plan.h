// Which partitions of an index to split or merge, by how many entities they have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "router/balance.h"
#include "router/centroids.h"
#include "router/repartition.h"

namespace kin::router {

struct PartitionPlanOptions {
  // Entities that a partition should have. Nothing: the mean of those that have a centroid.
  std::optional<double> target = {};
  // A partition with more than so many times the target is split, into about as many parts.
  double split_above = 3;
  // A partition joins its nearest neighbour on the shard if they have less than so many times the
  // target together. Well below what a part of a split has, so that one does not begin the other.
  double merge_below = 0.25;
  double least = 1'000;    // entities of a partition that is split
  std::uint32_t into = 8;  // most parts of a split
  std::size_t most = 16;   // repartitions of a plan
  Partitions fixed = {};   // that take no part now
};

// The largest partitions are split first; then the smallest are merged. No partition takes part
// twice. Thread-safe.
std::vector<NewRepartition> plan_partitions(const ShardMap& map, const Centroids& centroids,
                                            const PartitionWeights& entities,
                                            const PartitionPlanOptions& options = {});

// All partitions of the shard that have a centroid, trained again. Empty partitions if it has none.
NewRepartition retrained(const ShardMap& map, const Centroids& centroids, std::uint32_t shard);

}  // namespace kin::router
