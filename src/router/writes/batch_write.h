// One batch of mutations on its way to the shards.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "router/calls/places.h"
#include "router/calls/shards.h"

namespace kin::router {

// One thread only; shards and mutations outlive it.
class BatchWrite {
 public:
  BatchWrite(Shards& shards, std::span<const index::Mutation> mutations)
      : shards_(shards), mutations_(mutations), deadline_(shards.deadline()) {}

  Result<Written> run();

 private:
  // Says where entities that are put go, unless they have a place already.
  Status choose_partitions();
  Result<index::PartitionId> partition_for(const index::Entity& entity) const;
  // One round with one map. True if there is more to do with a newer one.
  Result<bool> attempt();
  void place_all(PlacesFound& found);
  std::vector<Ask<WriteRequest>> group(const PlacesFound& found);
  bool send(std::vector<Ask<WriteRequest>> asks);
  void take(const Ask<WriteRequest>& ask, std::span<const std::size_t> indexes,
            Told<WriteReply>& told);
  void fail(std::span<const std::size_t> indexes, std::uint32_t shard, const Error& error);

  Shards& shards_;
  std::span<const index::Mutation> mutations_;
  SteadyTime deadline_;
  KnownPointer known_;
  std::vector<std::optional<index::PartitionId>> wanted_;      // of entities that are put
  std::vector<bool> decided_;                                  // by mutation
  std::map<std::uint32_t, std::vector<std::size_t>> indexes_;  // mutations of a request, by shard
  std::uint64_t first_age_ = 0;
  Written written_;
};

}  // namespace kin::router
