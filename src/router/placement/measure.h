// What searches by nearness may pass over, measured with queries whose neighbours are known.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "router/placement/spots.h"

namespace kin::router {

// Recalls for which it is measured how much may be passed over.
inline constexpr std::array<double, 8> kRecalls{0.8, 0.9, 0.95, 0.97, 0.98, 0.99, 0.995, 0.998};

struct Measure {
  float sharpness = 0;  // see placement/prospects.h
  float reach = 0;      // squared distance of the tenth neighbour in the sample, the mean
  // Squared distance from the nearest spot that few queries exceed. Nothing is known of where
  // neighbours of a vector are that is farther away. Nothing: not measured.
  std::optional<float> radius = {};
  // For each of kRecalls the expected share that shards may hold together which are not asked. 0:
  // none is passed over.
  std::vector<float> passed = std::vector<float>(kRecalls.size(), 0);
};

// `queries`: places of vectors that the spots were not made of. Nothing is passed over if the
// sample has one vector.
Measure measure(const PlacedVectors& sample, std::span<const std::uint32_t> queries,
                const Spots& spots, std::span<const PartitionOwner> owners);

// For any recall, from those of kRecalls.
double passed_over(std::span<const float> passed, double recall);

}  // namespace kin::router
