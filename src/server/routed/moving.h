// The moves of the partitions of all indexes of a router: planned, begun, carried out, and shown.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/step.h"
#include "router/balance.h"
#include "router/mover.h"
#include "router/partition_plan.h"
#include "server/routed/routed_indexes.h"
#include "server/watch/metrics.h"

namespace kin::server {

enum class BalanceBy : std::uint8_t { kSize, kLoad };
// "size", "load". kInvalidArgument for another word.
Result<BalanceBy> balance_by_named(std::string_view name);

struct MovingOptions {
  router::MoverOptions mover = {};
  // Nothing: partitions move only when somebody asks for it.
  std::optional<BalanceBy> balance = {};
  router::BalanceOptions balancing = {};
  std::chrono::nanoseconds balance_pause = std::chrono::minutes{1};  // between two looks
  // Nothing: partitions are split and merged only when somebody asks for it.
  std::optional<router::PartitionPlanOptions> dividing = {};
  // A partition that was moved is not moved again by itself for so long.
  std::chrono::nanoseconds cooldown = std::chrono::minutes{10};
};

// Moves, and what they do to the shards.
struct MovePlan {
  router::ShardMap map = {};
  std::vector<router::NewMove> moves = {};
  router::PartitionWeights weights = {};  // entities, or milliseconds of work a second
  router::BalanceEffect effect = {};
};

struct BegunMoves {
  std::size_t begun = 0;
  struct Refusal {
    index::PartitionId partition{};
    std::string reason = {};
  };
  std::vector<Refusal> refused = {};
};

// A move as it is stored, and how far it is, if this router has seen that.
struct ShownMove {
  router::Move move = {};
  std::optional<router::MoveStatus> status = {};
};

// The same of a repartition.
struct ShownRepartition {
  router::Repartition repartition = {};
  std::optional<router::RepartitionStatus> status = {};
};

// Which partitions are split and merged, one after the other.
struct PartitionPlan {
  router::ShardMap map = {};
  std::vector<router::NewRepartition> repartitions = {};
  router::PartitionWeights entities = {};
};

// Thread-safe, but for step().
class Moving {
 public:
  // What it is given outlives it. `meta` must not answer from memory while the store is away.
  // `wake` makes a step soon.
  Moving(RoutedIndexes& indexes, router::MetaStore& meta, MovingOptions options, Clock& clock)
      : indexes_(indexes), meta_(meta), options_(std::move(options)), clock_(clock) {}

  // One thread calls it: does a piece of every index's moves, and balances now and then.
  StepOutcome step();
  // Called when there is something new to do.
  void wake_by(std::function<void()> wake);

  // Plans. kNotFound if there is no such index or node; kUnavailable if a shard whose sizes matter
  // does not answer. Partitions that move already are left out, and counted where they go.
  Result<MovePlan> plan_moves(const std::string& index, std::span<const std::uint32_t> partitions,
                              const std::string& to);
  Result<MovePlan> plan_drain(const std::string& index, const std::string& node);
  // Of a node that is not in the map: what split() would do.
  Result<MovePlan> plan_split(const std::string& index, const std::string& node);
  Result<MovePlan> plan_balance(const std::string& index, BalanceBy by,
                                const router::BalanceOptions& options);
  // Adds the node to the index if it is not in its map.
  Status add_node(const std::string& index, const std::string& node);
  // See RoutedIndexes::set_followers().
  Result<std::vector<router::Follower>> set_followers(const std::string& index, std::size_t count);

  // Writes the moves of a plan down. One that cannot begin is refused, and the others go on.
  Result<BegunMoves> begin(const std::string& index, const MovePlan& plan);
  Status abort(const std::string& index, std::uint32_t partition);

  // Partitions that are divided (router/repartition.h). Errors as for moves, and
  // kFailedPrecondition for an index without centroids.
  Result<PartitionPlan> plan_partitions(const std::string& index,
                                        const router::PartitionPlanOptions& options);
  // All partitions of the node, trained again.
  Result<PartitionPlan> plan_retraining(const std::string& index, const std::string& node);
  // As it is asked for, if it makes sense.
  Result<PartitionPlan> plan_repartition(const std::string& index,
                                         const router::NewRepartition& wanted);
  Status begin(const std::string& index, const router::NewRepartition& wanted);
  Status abort_repartition(const std::string& index);
  // The last one; nothing if there was none.
  Result<std::optional<ShownRepartition>> repartition(const std::string& index);

  Result<router::ShardMap> map_of(const std::string& index);
  // The last move of each partition, by partition.
  Result<std::vector<ShownMove>> moves(const std::string& index);

  // For Prometheus.
  std::vector<Gauge> gauges();

 private:
  struct Numbers {
    router::PartitionWeights weights = {};
    std::vector<router::Move> moves = {};
    router::ShardMap now = {};
    router::ShardMap later = {};  // with the moves that are under way
  };
  Result<Numbers> numbers(const std::string& index, BalanceBy by);
  Result<MovePlan> planned(Numbers numbers, std::vector<router::NewMove> moves) const;
  Result<StepOutcome> step_moves();
  // Begins what balances an index that has no moves.
  Status balance(const std::string& index);
  // Begins the first repartition that a plan has, if the index has no moves and none is under way.
  Status divide(const std::string& index);
  StepOutcome balance_all();
  Result<router::Centroids> centroids_of(const std::string& index, const router::ShardMap& map);
  void publish(const std::string& index, const router::Mover& mover);

  RoutedIndexes& indexes_;
  router::MetaStore& meta_;
  const MovingOptions options_;
  Clock& clock_;

  // Of the thread that steps.
  std::map<std::string, std::unique_ptr<router::Mover>> movers_;
  SteadyTime next_balance_ = {};

  std::mutex mutex_;  // guards what follows
  std::function<void()> wake_;
  std::map<std::string, std::map<std::uint64_t, router::MoveStatus>> statuses_;  // by index and id
  std::map<std::string, router::RepartitionStatus> divided_;                     // by index
  std::map<std::string, std::map<index::PartitionId, SteadyTime>> moved_;        // for the cooldown
  std::map<std::string, router::MoverCounts> counts_;  // of movers, also of those that are gone
};

}  // namespace kin::server
