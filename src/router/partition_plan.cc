#include "router/partition_plan.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kin::router {
namespace {

struct Cell {
  index::PartitionId partition{};
  double entities = 0;
};

// Those that have a centroid and may take part.
std::vector<Cell> cells_of(const ShardMap& map, const Centroids& centroids,
                           const PartitionWeights& entities) {
  std::vector<Cell> cells;
  for (std::uint32_t i = 0; i < map.partitions.size(); ++i) {
    const index::PartitionId partition{i};
    if (!centroids.has_centroid(partition)) continue;
    const auto weight = entities.find(partition);
    cells.push_back(
        {.partition = partition, .entities = weight == entities.end() ? 0 : weight->second});
  }
  return cells;
}

double target_of(const std::vector<Cell>& cells, const PartitionPlanOptions& options) {
  if (options.target) return *options.target;
  double sum = 0;
  for (const Cell& cell : cells) sum += cell.entities;
  return cells.empty() ? 0 : sum / static_cast<double>(cells.size());
}

double square_between(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double apart = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    sum += apart * apart;
  }
  return sum;
}

}  // namespace

std::vector<NewRepartition> plan_partitions(const ShardMap& map, const Centroids& centroids,
                                            const PartitionWeights& entities,
                                            const PartitionPlanOptions& options) {
  std::vector<Cell> cells = cells_of(map, centroids, entities);
  const double target = target_of(cells, options);
  std::vector<NewRepartition> plan;
  if (target <= 0) return plan;
  Partitions taken = options.fixed;
  std::ranges::stable_sort(cells, std::greater<>(), &Cell::entities);
  for (const Cell& cell : cells) {
    if (plan.size() >= options.most) return plan;
    if (cell.entities <= options.split_above * target || cell.entities < options.least) break;
    if (!taken.insert(cell.partition).second) continue;
    const double parts = std::clamp(std::round(cell.entities / target), 2.0,
                                    std::max(2.0, static_cast<double>(options.into)));
    plan.push_back(
        {.partitions = {cell.partition}, .added = static_cast<std::uint32_t>(parts) - 1});
  }
  std::ranges::reverse(cells);
  for (const Cell& small : cells) {
    if (plan.size() >= options.most) return plan;
    if (small.entities >= options.merge_below * target) break;
    if (taken.contains(small.partition)) continue;
    const Cell* nearest = nullptr;
    double least = std::numeric_limits<double>::infinity();
    for (const Cell& other : cells) {
      const bool fits = other.partition != small.partition && !taken.contains(other.partition) &&
                        map.shard_of(other.partition) == map.shard_of(small.partition) &&
                        small.entities + other.entities < options.merge_below * target;
      if (!fits) continue;
      const double apart = square_between(centroids.centre_of(small.partition),
                                          centroids.centre_of(other.partition));
      if (apart < least) {
        least = apart;
        nearest = &other;
      }
    }
    if (nearest == nullptr) continue;
    taken.insert(small.partition);
    taken.insert(nearest->partition);
    plan.push_back(
        {.partitions = {small.partition, nearest->partition}, .retired = {small.partition}});
  }
  return plan;
}

NewRepartition retrained(const ShardMap& map, const Centroids& centroids, std::uint32_t shard) {
  NewRepartition wanted;
  for (const index::PartitionId partition : map.partitions_of(shard)) {
    if (centroids.has_centroid(partition)) wanted.partitions.insert(partition);
  }
  return wanted;
}

}  // namespace kin::router
