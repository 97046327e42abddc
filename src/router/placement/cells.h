// New centroids of a few partitions, learnt from a sample of their vectors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace kin::router {

struct CellsToLearn {
  std::vector<std::vector<float>> centres = {};  // of before, that stay
  std::size_t added = 0;                         // further ones
  std::uint64_t seed = 1;
};

struct LearntCells {
  // Those that stay in their order, then the further ones. Fewer of these than asked for if the
  // sample has not enough different vectors.
  std::vector<std::vector<float>> centres = {};
  std::vector<std::uint64_t> sizes = {};  // vectors of the sample that are nearest to each
};

// k-means by Lloyd's iterations, from the centres of before, so that cells stay where they were as
// far as the vectors do. Further centres begin at vectors that are drawn in proportion to their
// squared distances; the best of several draws counts. The same input gives the same result on
// every machine that rounds alike. Vectors as prepared() gives them. Thread-safe.
LearntCells learn_cells(std::span<const std::vector<float>> sample, const CellsToLearn& wanted);

}  // namespace kin::router
