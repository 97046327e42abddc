// The edges of an index over many shards, read for many nodes at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "index/graph.h"
#include "router/calls/places.h"
#include "router/calls/shards.h"

namespace kin::router {

// Edges that leave a node are asked of the shard that owns it, edges that lead to it of all shards:
// each knows those that begin in it. One thread only. Any call may find that the map has changed;
// its error counts then only if map_changed() is false.
class EdgeReader {
 public:
  EdgeReader(Shards& shards, KnownPointer known, const index::EdgeFilter& filter,
             const Limits& limits)
      : shards_(shards), known_(std::move(known)), filter_(filter), limits_(limits) {}

  // The edges of each node, up to `limit`: those that leave it first, then by name, other end and
  // beginning.
  using Lists = std::vector<std::vector<index::GraphEdge>>;
  Result<Lists> edges(std::span<const DocId> nodes, index::Direction direction, std::size_t limit);

  // For each entity, whether it exists and is valid at the filter's moment.
  Result<std::vector<bool>> exist(std::span<const DocId> ids);

  bool map_changed() const { return map_changed_; }

 private:
  Result<PlacesFound> places(std::span<const DocId> ids);
  Status add(const std::vector<Ask<EdgesRequest>>& asks,
             const std::vector<std::vector<std::size_t>>& nodes, Lists& lists);
  Status add_out(std::span<const DocId> nodes, std::size_t limit, Lists& lists);
  Status add_in(std::span<const DocId> nodes, std::size_t limit, Lists& lists);
  Error failed(std::uint32_t shard, const Error& error) const;

  Shards& shards_;
  KnownPointer known_;
  index::EdgeFilter filter_;
  Limits limits_;
  bool map_changed_ = false;
};

}  // namespace kin::router
