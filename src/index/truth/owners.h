// Whether a shard may write a partition.
#pragma once

#include <cstdint>
#include <optional>

#include "index/entity.h"
#include "index/mutation.h"
#include "index/record.h"

namespace kin::index {

// The entity whose partition decides about a mutation or record. Null for a change of owners.
struct EntityOf {
  const DocId* operator()(const PutEntity& put) const { return &put.entity.id; }
  const DocId* operator()(const PutEdge& put) const { return &put.edge.id.from; }
  const DocId* operator()(const RemoveEdge& remove) const { return &remove.edge.from; }
  const DocId* operator()(const SetEdges& set) const { return &set.from; }
  const DocId* operator()(const CloseEdge& close) const { return &close.from; }
  const DocId* operator()(const AddEdgeFragment& add) const { return &add.from; }
  const DocId* operator()(const AssignOwner&) const { return nullptr; }
  const DocId* operator()(const EntityRecord& record) const { return &record.entity.id; }
  const DocId* operator()(const EdgeRecord& record) const { return &record.edge.id.from; }
  const DocId* operator()(const OwnerRecord&) const { return nullptr; }
  template <typename Other>
  const DocId* operator()(const Other& other) const {
    return &other.id;
  }
};

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
