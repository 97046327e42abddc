// The map of an index: which shard owns which partition.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/doc_id.h"
#include "base/hash.h"
#include "base/result.h"
#include "index/entity.h"
#include "router/requests.h"

namespace kin::router {

struct PartitionOwner {
  std::uint32_t shard = 0;  // place in ShardMap::shards
  std::uint64_t epoch = 0;  // of the map that made it the owner
  friend bool operator==(const PartitionOwner&, const PartitionOwner&) = default;
};

struct Dividing {
  std::uint64_t repartition = 0;  // its id
  Partitions members = {};
  friend bool operator==(const Dividing&, const Dividing&) = default;
};

// Changes only by MetaStore::swap(), to a map with the next epoch. Thread-compatible.
struct ShardMap {
  std::string index = {};
  std::uint64_t epoch = 1;
  std::vector<std::string> shards = {};         // addresses
  std::vector<PartitionOwner> partitions = {};  // by number; at least one
  std::optional<Hash128> centroids = {};        // nothing: entities are placed by their ids
  // Of the shards, in their order (CallOptions::shard). Empty: whoever has the address is believed.
  std::vector<Hash128> identities = {};
  std::string settings = {};  // bytes that only the maker of the index and its readers understand
  // Of the shards, in their order: the term in which another process took the shard over the last
  // time (router/lease.h). Empty: it never happened to any.
  std::vector<std::uint64_t> terms = {};
  // The first so many partitions are homes: as many as the index was made with. 0: all are.
  std::uint32_t homes = 0;
  // The epoch from which on places are those of the last repartition (router/repartition.h). Places
  // that were learnt by maps with another one may be wrong. 0: there was none.
  std::uint64_t divided = 0;
  // The partitions of a repartition that is under way: they are on one shard, and do not move.
  std::optional<Dividing> dividing = {};

  // The partition that follows from an entity's id: its directory entry is there, and so is the
  // entity if it has no vector. The same for ever.
  index::PartitionId home_of(const DocId& id) const;
  std::uint32_t shard_of(index::PartitionId partition) const {
    return partitions[static_cast<std::size_t>(partition)].shard;
  }
  Partitions partitions_of(std::uint32_t shard) const;
  Hash128 identity_of(std::uint32_t shard) const {
    return identities.empty() ? Hash128{} : identities[shard];
  }
  // Shards that joined since the first take-over have no term.
  std::uint64_t term_of(std::uint32_t shard) const {
    return shard < terms.size() ? terms[shard] : 0;
  }
  // The place of the shard with this identity; nothing if it is not in the map.
  std::optional<std::uint32_t> place_of(const Hash128& identity) const;
  // The epoch from which on the shard knows the partitions of its entities as this map has them.
  // While a repartition divides partitions of the shard, they change from the epoch of these on. 0:
  // there was no repartition.
  std::uint64_t divided_at(std::uint32_t shard) const;
  // The assignment to send to the shard.
  AssignRequest assignment_of(std::uint32_t shard) const;

  friend bool operator==(const ShardMap&, const ShardMap&) = default;
};

// The shard of a partition in a new map: shards get ranges of partitions of about the same length.
constexpr std::size_t shard_of_partition(std::size_t partition, std::size_t partitions,
                                         std::size_t shards) {
  return partition * shards / partitions;
}
// A new map with such ranges.
ShardMap spread_partitions(std::string index, std::vector<std::string> shards,
                           std::size_t partitions);

// The map after the process at `address` took a shard over in `term`: it owns the partitions of the
// shard, from an epoch on that is above every fence which a move has written down by this map.
ShardMap taken_over(ShardMap map, std::uint32_t shard, std::string address, std::uint64_t term);

// The bytes of docs/formats.md, "A router: the map of an index".
std::string encode(const ShardMap& map);
// kDataLoss for bytes that no encoder wrote, kFailedPrecondition for an unknown version.
Result<ShardMap> decode_shard_map(std::string_view bytes);

// Its key in a MetaStore.
std::string map_key(std::string_view index);

}  // namespace kin::router
