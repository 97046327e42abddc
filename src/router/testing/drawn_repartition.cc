#include "router/testing/drawn_repartition.h"

#include <fmt/format.h>

namespace kin::router {

NewRepartition draw_repartition(const ShardMap& map, Random& random) {
  const auto shard = static_cast<std::uint32_t>(random.below(map.shards.size()));
  NewRepartition wanted{.added = static_cast<std::uint32_t>(random.below(2))};
  for (const index::PartitionId one : map.partitions_of(shard)) {
    // Most of them, so that there are vectors to learn from.
    if (random.below(3) == 0) continue;
    wanted.partitions.insert(one);
    if (random.below(5) == 0) wanted.retired.insert(one);
  }
  return wanted;
}

std::string name_of(const NewRepartition& wanted) {
  std::string text;
  for (const index::PartitionId one : wanted.partitions)
    text += fmt::format("{} ", static_cast<std::uint32_t>(one));
  text += fmt::format("{} added", wanted.added);
  for (const index::PartitionId one : wanted.retired)
    text += fmt::format(", without {}", static_cast<std::uint32_t>(one));
  return text;
}

}  // namespace kin::router
