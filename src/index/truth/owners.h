// Whether a shard may write a partition.
#pragma once

#include <cstdint>
#include <optional>

#include "index/entity.h"
#include "index/mutation.h"

namespace kin::index {

// kNotOwned or kOldEpoch; nothing if it may. `owner` is what a shard with owners knows of the
// partition, nullptr for nothing.
constexpr std::optional<Effect> refusal(const Ownership* owner,
                                        std::optional<std::uint64_t> map_epoch) {
  if (owner == nullptr || !owner->owned) return Effect::kNotOwned;
  if (map_epoch && *map_epoch < owner->epoch) return Effect::kOldEpoch;
  return {};
}

inline const Ownership* find_owner(const Owners& owners, PartitionId partition) {
  const auto found = owners.find(partition);
  return found == owners.end() ? nullptr : &found->second;
}

}  // namespace kin::index
