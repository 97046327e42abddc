#include "index/centroids.h"

#include <algorithm>
#include <numeric>

#include "base/random.h"
#include "index/vector/kmeans.h"

namespace kin::index {

std::vector<std::vector<float>> train_centroids(std::span<const std::vector<float>> sample,
                                                std::size_t count, std::uint64_t seed) {
  std::vector<std::vector<float>> centres;
  if (sample.empty()) return centres;
  // KMeans wants its points in random order.
  std::vector<std::size_t> order(sample.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  Random random(seed);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  Matrix points(sample.front().size());
  points.reserve(sample.size());
  for (const std::size_t i : order) points.add(sample[i]);
  KMeans means(std::move(points), std::min(count, sample.size()), seed);
  while (means.round()) continue;
  const Matrix trained = means.take();
  for (std::size_t i = 0; i < trained.rows(); ++i)
    centres.emplace_back(trained.row(i).begin(), trained.row(i).end());
  return centres;
}

}  // namespace kin::index
