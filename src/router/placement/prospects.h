// How the nearest vectors of a query are expected to be spread over partitions and shards.
//
// A spot's share (placement/spots.h) falls with its squared distance from the query:
// weight * exp(-sharpness * distance), as if its vectors lay around it in a bell curve.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "router/shard_map.h"

namespace kin::router {

// The share of each spot; together 1. Squared distances of the spots.
std::vector<double> expected_shares(std::span<const float> weights,
                                    std::span<const double> distances, double sharpness);

// A shard, and what it and all less promising ones are expected to hold together.
struct Prospect {
  std::uint32_t shard = 0;
  double rest = 0;
};
// The shards that own partitions, the most promising first. Shares and owners of the same things:
// partitions, or spots.
std::vector<Prospect> prospects(std::span<const double> shares,
                                std::span<const PartitionOwner> owners);

// A query whose neighbours are known.
struct KnownQuery {
  std::vector<double> distances = {};          // squared, of all spots
  std::vector<std::uint32_t> neighbours = {};  // for each, a spot of its partition
};
// The lowest sharpness with which the shards of the neighbours are about as likely as with the
// best: a higher one trusts distances more than the queries can tell. At least one query; the mean
// of their distances from the nearest spot says where to look for it. Weights and owners are those
// of spots.
double best_sharpness(std::span<const KnownQuery> queries, std::span<const float> weights,
                      std::span<const PartitionOwner> owners);

// For each neighbour of each query the Prospect::rest of its shard, in order: a search that passes
// over shards with less in all finds the neighbour.
std::vector<double> rests_needed(std::span<const KnownQuery> queries,
                                 std::span<const float> weights,
                                 std::span<const PartitionOwner> owners, double sharpness);

}  // namespace kin::router
