#include "index/centroids.h"

#include <algorithm>
#include <numeric>

#include "base/random.h"
#include "index/vector/kernels.h"
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

std::vector<std::vector<SampleNeighbour>> nearest_in_sample(
    std::span<const std::vector<float>> sample, std::span<const std::uint32_t> queries,
    std::size_t k) {
  std::vector<std::vector<SampleNeighbour>> nearest(queries.size());
  if (queries.empty() || k == 0) return nearest;
  Matrix rows(sample.front().size());
  for (const std::uint32_t query : queries) rows.add(sample[query]);
  const Centres looking(std::move(rows));
  const auto nearer = [](const SampleNeighbour& a, const SampleNeighbour& b) {
    return a.distance != b.distance ? a.distance < b.distance : a.place < b.place;
  };
  Matrix one(sample.front().size());
  one.resize(1);
  std::vector<float> products(queries.size());
  for (std::uint32_t place = 0; place < sample.size(); ++place) {
    std::ranges::copy(sample[place], one.row(0).begin());
    looking.products(one.data(), products);
    const float square = internal::dot(one.data(), one.data(), one.stride());
    for (std::size_t q = 0; q < queries.size(); ++q) {
      if (queries[q] == place) continue;  // a vector is not its own neighbour
      auto& heap = nearest[q];
      const float distance = std::max(0.0F, square + looking.square(q) - 2 * products[q]);
      if (heap.size() == k) {
        if (distance >= heap.front().distance) continue;
        std::ranges::pop_heap(heap, nearer);
        heap.pop_back();
      }
      heap.push_back({.distance = distance, .place = place});
      std::ranges::push_heap(heap, nearer);
    }
  }
  for (auto& heap : nearest) std::ranges::sort_heap(heap, nearer);
  return nearest;
}

}  // namespace kin::index
