#include "router/placement/spots.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/random.h"
#include "index/shard.h"
#include "router/placement/cells.h"

namespace kin::router {
namespace {

// A spot stands for so many vectors of the sample, or more.
constexpr std::size_t kVectorsOfASpot = 32;
constexpr std::size_t kMostSpots = 8;        // of a partition
constexpr std::size_t kMostInAll = 512;      // and one more for each partition
constexpr std::size_t kLearntFrom = 16'384;  // vectors, drawn at random from more

std::vector<float> mean_of(std::span<const std::vector<float>> vectors) {
  std::vector<double> sums(vectors.front().size(), 0);
  for (const auto& vector : vectors) {
    for (std::size_t d = 0; d < sums.size(); ++d) sums[d] += static_cast<double>(vector[d]);
  }
  std::vector<float> mean;
  for (const double sum : sums)
    mean.push_back(static_cast<float>(sum / static_cast<double>(vectors.size())));
  return mean;
}

}  // namespace

std::vector<double> Spots::distances(std::span<const float> prepared) const {
  std::vector<double> all;
  all.reserve(weights.size());
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const auto row = std::span(values).subspan(i * prepared.size(), prepared.size());
    all.push_back(std::max(
        0.0, static_cast<double>(index::exact_distance(index::Distance::kL2, prepared, row))));
  }
  return all;
}

std::vector<double> Spots::sums(std::span<const double> shares, std::size_t count) const {
  std::vector<double> sums(count, 0);
  for (std::size_t i = 0; i < shares.size(); ++i) sums[partitions[i]] += shares[i];
  return sums;
}

std::vector<PartitionOwner> Spots::owners(std::span<const PartitionOwner> of) const {
  std::vector<PartitionOwner> owners;
  for (const std::uint32_t partition : partitions) owners.push_back(of[partition]);
  return owners;
}

Spots learn_spots(const PlacedVectors& placed, std::span<const std::uint32_t> places,
                  std::uint64_t seed) {
  std::map<std::uint32_t, std::vector<std::vector<float>>> held;
  Random random(seed);
  for (const std::uint32_t place : places) {
    if (places.size() <= kLearntFrom || random.below(places.size()) < kLearntFrom)
      held[placed.partitions[place]].push_back(placed.vectors[place]);
  }
  const std::size_t each =
      std::max(kVectorsOfASpot, std::min(places.size(), kLearntFrom) / kMostInAll);
  Spots spots;
  for (const auto& [partition, vectors] : held) {
    const std::size_t count = std::clamp<std::size_t>(vectors.size() / each, 1, kMostSpots);
    const LearntCells cells =
        learn_cells(vectors, {.centres = {mean_of(vectors)}, .added = count - 1, .seed = seed});
    for (std::size_t i = 0; i < cells.centres.size(); ++i) {
      if (cells.sizes[i] == 0) continue;
      spots.values.insert(spots.values.end(), cells.centres[i].begin(), cells.centres[i].end());
      spots.weights.push_back(static_cast<float>(cells.sizes[i]));
      spots.partitions.push_back(partition);
    }
  }
  return spots;
}

}  // namespace kin::router
