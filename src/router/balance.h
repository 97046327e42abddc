// Which partitions to move so that shards are about equally heavy, by entities or by work.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "base/result.h"
#include "router/move.h"

namespace kin::router {

using PartitionWeights = std::map<index::PartitionId, double>;  // 0 for those left out

struct BalanceOptions {
  // The heaviest shard has at most so many times the mean before anything moves. Then partitions
  // move until half of the excess is gone, so that a small change does not begin it again.
  double max_skew = 1.5;
  // A move takes at least this share of the heaviest shard's weight off it.
  double least_gain = 0.02;
  std::size_t most = 16;  // moves of a plan
  Partitions fixed = {};  // that do not move now
};

// What moves do to the weights of shards.
struct BalanceEffect {
  std::vector<double> before = {};  // by place in the map
  std::vector<double> after = {};
  // The heaviest shard's weight as a multiple of the mean. Shards without partitions do not count.
  // 1 if there is no weight at all.
  double skew_before = 1;
  double skew_after = 1;
};
// The effect of moves that check_move() accepts. Thread-safe.
BalanceEffect effect_of(const ShardMap& map, const PartitionWeights& weights,
                        const std::vector<NewMove>& moves);

// The map as it will be when these moves are done, as far as they can be planned for. Thread-safe.
ShardMap with_moves(ShardMap map, const std::vector<Move>& moves);

// Moves from the heaviest shard to the lightest, one after another. No move makes the heavier of
// its two shards heavier than the heaviest was, and no partition moves twice. A shard without
// partitions gets none: it was drained, or is about to be filled by plan_split(). Thread-safe.
std::vector<NewMove> plan_balance(const ShardMap& map, const PartitionWeights& weights,
                                  const BalanceOptions& options = {});

// Moves that give `shard` its share, from the heaviest of the others. kInvalidArgument if there is
// no such shard. Thread-safe.
Result<std::vector<NewMove>> plan_split(const ShardMap& map, std::uint32_t shard,
                                        const PartitionWeights& weights,
                                        const Partitions& fixed = {});

}  // namespace kin::router
