// The centres that cut a vector space into cells, for a caller that places vectors by them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "index/vector/space.h"

namespace kin::index {

// k-means over a sample of vectors, as prepared() gives them. At most as many centres as the sample
// has vectors. The same sample and seed give the same centres on every machine that rounds alike:
// store them, and do not derive them again. Thread-safe.
std::vector<std::vector<float>> train_centroids(std::span<const std::vector<float>> sample,
                                                std::size_t count, std::uint64_t seed);

struct SampleNeighbour {
  float distance = 0;       // squared Euclidean
  std::uint32_t place = 0;  // in the sample
};
// For each place in `queries` the `k` nearest other vectors of the sample, nearest first; of equal
// ones the lower place first. Vectors as prepared() gives them. Thread-safe.
std::vector<std::vector<SampleNeighbour>> nearest_in_sample(
    std::span<const std::vector<float>> sample, std::span<const std::uint32_t> queries,
    std::size_t k);

}  // namespace kin::index
