#include "router/placement/measure.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "index/centroids.h"
#include "router/placement/prospects.h"

namespace kin::router {
namespace {

constexpr std::size_t kNeighbours = 10;
// Where the sample lost nothing, shards are passed over that hold so many times what a search may
// miss. Shares that fit are about twice that.
constexpr double kMostPassed = 4;
// This share of the queries is within Measure::radius.
constexpr double kWithinRadius = 0.97;

// Each partition on a shard of its own.
std::vector<PartitionOwner> apart(const Spots& spots) {
  std::vector<PartitionOwner> owners;
  for (const std::uint32_t partition : spots.partitions) owners.push_back({.shard = partition});
  return owners;
}

// The squared distance from the nearest spot that few queries exceed.
float radius_of(std::span<const KnownQuery> queries) {
  std::vector<double> nearest;
  for (const KnownQuery& query : queries) nearest.push_back(std::ranges::min(query.distances));
  std::ranges::sort(nearest);
  const auto within = static_cast<std::size_t>(kWithinRadius * static_cast<double>(nearest.size()));
  return static_cast<float>(nearest[std::min(within, nearest.size() - 1)]);
}

}  // namespace

Measure measure(const PlacedVectors& sample, std::span<const std::uint32_t> queries,
                const Spots& spots, std::span<const PartitionOwner> owners) {
  Measure made{.radius = 0};
  std::map<std::uint32_t, std::uint32_t> spot_in;  // one of each partition
  for (std::uint32_t i = 0; i < spots.partitions.size(); ++i)
    spot_in.emplace(spots.partitions[i], i);
  const auto neighbours = index::nearest_in_sample(sample.vectors, queries, kNeighbours);
  std::vector<KnownQuery> known;
  double farthest = 0;
  for (std::size_t i = 0; i < queries.size(); ++i) {
    if (neighbours[i].empty()) return made;
    KnownQuery& one =
        known.emplace_back(KnownQuery{.distances = spots.distances(sample.vectors[queries[i]])});
    for (const auto& other : neighbours[i])
      one.neighbours.push_back(spot_in.at(sample.partitions[other.place]));
    farthest += static_cast<double>(neighbours[i].back().distance);
  }
  if (known.empty()) return made;
  made.reach = static_cast<float>(farthest / static_cast<double>(known.size()));
  made.radius = radius_of(known);
  // Where neighbours are never on two shards, every sharpness fits these as well. Partitions, of
  // which neighbours are in several, say more: one of them may move to another shard.
  const std::vector<PartitionOwner> on_shards = spots.owners(owners);
  made.sharpness = static_cast<float>(std::min(best_sharpness(known, spots.weights, on_shards),
                                               best_sharpness(known, spots.weights, apart(spots))));
  const auto rests =
      rests_needed(known, spots.weights, on_shards, static_cast<double>(made.sharpness));
  for (std::size_t i = 0; i < kRecalls.size(); ++i) {
    const double missed = (1 - kRecalls[i]) * static_cast<double>(rests.size());
    const double rest =
        std::min(rests[static_cast<std::size_t>(missed + 1e-9)], kMostPassed * (1 - kRecalls[i]));
    made.passed[i] = std::nextafter(static_cast<float>(rest), 0.0F);  // not above it by rounding
  }
  return made;
}

double passed_over(std::span<const float> passed, double recall) {
  // 0.99 may be a bit more.
  const auto above = std::ranges::lower_bound(kRecalls, recall - 1e-9);
  if (above == kRecalls.end()) return 0;
  const auto level = static_cast<std::size_t>(above - kRecalls.begin());
  const auto there = static_cast<double>(passed[level]);
  if (level == 0) return there;
  const double part = (kRecalls[level] - recall) / (kRecalls[level] - kRecalls[level - 1]);
  return there + std::max(0.0, part) * (static_cast<double>(passed[level - 1]) - there);
}

}  // namespace kin::router
