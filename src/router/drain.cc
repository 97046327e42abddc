#include "router/drain.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

namespace kin::router {

Result<std::vector<NewMove>> plan_drain(const ShardMap& map, std::uint32_t shard,
                                        const index::PartitionSizes& sizes) {
  if (shard >= map.shards.size())
    return Error{Code::kInvalidArgument, fmt::format("index {} has no shard {}", map.index, shard)};
  if (map.shards.size() < 2)
    return Error{Code::kInvalidArgument,
                 fmt::format("index {} has no other shard to move partitions to", map.index)};
  const auto size_of = [&](index::PartitionId partition) {
    const auto found = sizes.find(partition);
    return found == sizes.end() ? std::uint64_t{0} : found->second;
  };
  using Load = std::pair<std::uint64_t, std::size_t>;  // entities, partitions
  std::vector<Load> loads(map.shards.size());
  for (std::uint32_t i = 0; i < map.partitions.size(); ++i) {
    Load& load = loads[map.partitions[i].shard];
    load.first += size_of(index::PartitionId{i});
    ++load.second;
  }
  const Partitions owned = map.partitions_of(shard);
  std::vector<index::PartitionId> leaving(owned.begin(), owned.end());
  std::ranges::stable_sort(leaving, std::greater<>(), size_of);
  // One that owns nothing was drained itself, if there is another.
  const auto takes = [&](std::uint32_t other, bool empty) {
    return other != shard && (empty || loads[other].second > 0);
  };
  bool empty = true;
  for (std::uint32_t other = 0; other < loads.size(); ++other)
    empty = empty && !takes(other, false);
  std::vector<NewMove> moves;
  for (const index::PartitionId partition : leaving) {
    std::optional<std::uint32_t> least;
    for (std::uint32_t other = 0; other < loads.size(); ++other) {
      if (takes(other, empty) && (!least || loads[other] < loads[*least])) least = other;
    }
    moves.push_back({.partition = partition, .target = *least});
    loads[*least].first += size_of(partition);
    ++loads[*least].second;
  }
  return moves;
}

}  // namespace kin::router
