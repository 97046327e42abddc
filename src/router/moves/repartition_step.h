// One piece of a repartition.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "router/mover.h"

namespace kin::router {

// Every piece may be done twice, late, and by several movers at once. Why that is safe is in ADR
// 0037. One thread only.
class RepartitionStep {
 public:
  // `revision` is that of the map.
  RepartitionStep(Mover& mover, const StoredRepartition& stored, std::uint64_t revision)
      : mover_(mover), stored_(stored), made_(stored.repartition), revision_(revision) {}

  Status read(const MetaValue& map);
  Result<StepOutcome> run();

 private:
  // The work of the phases.
  Result<StepOutcome> learn();
  Result<StepOutcome> open();
  Result<StepOutcome> divide();
  Result<StepOutcome> place();
  Result<StepOutcome> settle();
  Result<StepOutcome> close();
  Result<StepOutcome> undo();

  // The members still belong to the shard, by the owners of the map that the record knows.
  bool is_as_begun() const;
  bool is_open() const;
  // Partitions that get a centroid: such as have none, and then new ones.
  Result<Partitions> numbers_for_added(const Centroids& centroids) const;
  Result<Centroids> centroids_of_map();
  Result<NewCells> learn_cells_of(const Centroids& before, const Repartition& after);
  // The divided centroids, with what near() needs measured on vectors of all shards. `members` are
  // those of afterwards.
  Result<Centroids> measured(const Centroids& divided, const Partitions& members);
  // Stores bytes at every shard of the map.
  Status store_blob(const std::string& bytes);
  DivideRequest divide_request(std::size_t limit) const;
  // Tells the homes where these entities are.
  Status send_places(index::PartitionId member, const std::vector<DocId>& ids);
  // The members have a new epoch, and what `change` does. False if the map changed meanwhile.
  template <typename Change>
  Result<bool> change_map(const Change& change);
  void give_epoch(ShardMap& map) const;

  Result<StepOutcome> advance();
  Result<StepOutcome> write(const Repartition& after);
  Result<StepOutcome> give_up(std::string reason);

  StepOutcome behind() const;
  void tell(std::uint32_t shard);
  void tell_all();
  CallOptions call_options(std::uint32_t shard) const;
  template <typename Asked>
  Result<typename Asked::Reply> ask(std::uint32_t shard, Asked request);

  SteadyTime now() const { return mover_.options_.clock->steady_now(); }
  Mover::SeenRepartition& seen() { return mover_.divided_; }

  Mover& mover_;
  const StoredRepartition& stored_;
  const Repartition& made_;
  std::uint64_t revision_;
  ShardMap map_;
};

}  // namespace kin::router
