// Where the vectors of partitions are: points that stand for some of them each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "router/shard_map.h"

namespace kin::router {

// Not always the centroids: a partition may hold vectors that are nearer to the centroid of
// another, because they were placed before that was learnt.
struct Spots {
  std::vector<float> values = {};              // row by row
  std::vector<float> weights = {};             // shares of all vectors; together 1
  std::vector<std::uint32_t> partitions = {};  // of each

  // Squared distances of all spots.
  std::vector<double> distances(std::span<const float> prepared) const;
  // The sum of each partition.
  std::vector<double> sums(std::span<const double> shares, std::size_t partitions) const;
  std::vector<PartitionOwner> owners(std::span<const PartitionOwner> partitions) const;
};

// Vectors of an index, as prepared() gives them, and the partitions that they are in.
struct PlacedVectors {
  std::vector<std::vector<float>> vectors = {};
  std::vector<std::uint32_t> partitions = {};
};

// More of them for partitions that hold more. Weights are numbers of vectors. The same input gives
// the same result on every machine that rounds alike. Thread-safe.
Spots learn_spots(const PlacedVectors& placed, std::span<const std::uint32_t> places,
                  std::uint64_t seed);

}  // namespace kin::router
