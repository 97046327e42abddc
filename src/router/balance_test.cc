#include "router/balance.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/random.h"

namespace kin::router {
namespace {

using index::PartitionId;

ShardMap map_of(std::size_t shards, std::size_t partitions) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < shards; ++i) names.push_back("node" + std::to_string(i));
  return spread_partitions("things", names, partitions);
}

PartitionWeights weights_of(const std::vector<double>& all) {
  PartitionWeights weights;
  for (std::uint32_t i = 0; i < all.size(); ++i) weights[PartitionId{i}] = all[i];
  return weights;
}

TEST(Balance, NothingMovesBelowTheSkewThatIsAllowed) {
  const ShardMap map = map_of(2, 4);
  EXPECT_TRUE(plan_balance(map, weights_of({7, 7, 3, 3})).empty());
  EXPECT_FALSE(plan_balance(map, weights_of({7, 7, 3, 3}), {.max_skew = 1.2}).empty());
  EXPECT_TRUE(plan_balance(map, {}).empty()) << "an index without entities";
}

TEST(Balance, TheHeaviestShardGivesThePartitionThatHelpsMost) {
  const auto moves = plan_balance(map_of(2, 6), weights_of({50, 20, 10, 1, 1, 1}));
  ASSERT_EQ(moves.size(), 1U);
  EXPECT_EQ(moves[0].partition, PartitionId{0}) << "53 is less than the 60 that the next one leaves";
  EXPECT_EQ(moves[0].target, 1U);
}

TEST(Balance, OnePartitionThatIsTooHeavyStays) {
  EXPECT_TRUE(plan_balance(map_of(2, 2), weights_of({100, 1})).empty());
}

TEST(Balance, AMoveThatGainsLittleIsNotMade) {
  const auto weights = weights_of({97, 1, 1, 1, 1, 1});
  EXPECT_TRUE(plan_balance(map_of(2, 6), weights, {.least_gain = 0.05}).empty());
  EXPECT_FALSE(plan_balance(map_of(2, 6), weights, {.least_gain = 0}).empty());
}

TEST(Balance, FixedPartitionsStayAndPlansAreLimited) {
  const auto weights = weights_of({10, 10, 10, 10, 0, 0, 0, 0});
  const ShardMap map = map_of(2, 8);
  const Partitions fixed{PartitionId{0}, PartitionId{1}};
  for (const NewMove& one : plan_balance(map, weights, {.fixed = fixed}))
    EXPECT_GE(static_cast<std::uint32_t>(one.partition), 2U);
  EXPECT_EQ(plan_balance(map, weights, {.max_skew = 1, .most = 1}).size(), 1U);
}

TEST(Balance, AShardWithoutPartitionsGetsNone) {
  ShardMap map = map_of(2, 4);
  map.shards.emplace_back("drained");
  for (const NewMove& one : plan_balance(map, weights_of({90, 80, 1, 1})))
    EXPECT_EQ(one.target, 1U);
}

TEST(Balance, AMoveThatIsUnderWayCountsAsDone) {
  const ShardMap map = map_of(2, 4);
  const Move under_way{.partition = PartitionId{0}, .target = 1, .phase = MovePhase::kCopying};
  EXPECT_EQ(with_moves(map, {under_way}).shard_of(PartitionId{0}), 1U);
  Move failed = under_way;
  failed.phase = MovePhase::kFailed;
  EXPECT_EQ(with_moves(map, {failed}), map);
}

TEST(Balance, ASplitGivesTheNewShardItsShare) {
  ShardMap map = map_of(3, 30);
  map.shards.emplace_back("new");
  PartitionWeights weights;
  for (std::uint32_t i = 0; i < 30; ++i) weights[PartitionId{i}] = 10 + i % 3;
  const auto moves = plan_split(map, 3, weights);
  ASSERT_TRUE(moves.ok());
  const BalanceEffect effect = effect_of(map, weights, *moves);
  EXPECT_EQ(effect.before[3], 0);
  EXPECT_GT(effect.after[3], 60);
  EXPECT_LT(effect.skew_after, 1.2);
  EXPECT_FALSE(plan_split(map, 4, weights).ok());
  const auto again = plan_split(map, 3, weights, map.partitions_of(0));
  for (const NewMove& one : *again) EXPECT_NE(map.shard_of(one.partition), 0U);
}

// What holds for every plan.
TEST(Balance, PlansOfRandomIndexes) {
  for (std::uint64_t seed = 1; seed <= 2'000; ++seed) {
    Random random(seed);
    ShardMap map = map_of(2 + random.below(6), 1 + random.below(60));
    PartitionWeights weights;
    for (std::uint32_t i = 0; i < map.partitions.size(); ++i) {
      map.partitions[i].shard = static_cast<std::uint32_t>(random.below(map.shards.size()));
      weights[PartitionId{i}] = static_cast<double>(random.below(1 + random.below(1'000)));
    }
    const BalanceOptions options{.max_skew = 1 + random.unit(), .most = 1'000};
    const auto moves = plan_balance(map, weights, options);
    const BalanceEffect effect = effect_of(map, weights, moves);
    std::set<PartitionId> moved;
    for (const NewMove& one : moves) {
      EXPECT_TRUE(check_move(map, one).ok());
      EXPECT_TRUE(moved.insert(one.partition).second) << "no partition moves twice";
      EXPECT_FALSE(map.partitions_of(one.target).empty());
    }
    if (moves.empty()) { EXPECT_EQ(effect.skew_after, effect.skew_before); }
    EXPECT_TRUE(effect.skew_before > options.max_skew || moves.empty());
    EXPECT_LE(std::ranges::max(effect.after), std::ranges::max(effect.before));
    // Carrying a plan out leaves nothing to do.
    ShardMap later = map;
    for (const NewMove& one : moves)
      later.partitions[static_cast<std::size_t>(one.partition)].shard = one.target;
    EXPECT_TRUE(effect.skew_after > (1 + options.max_skew) / 2 ||
                plan_balance(later, weights, options).empty());
  }
}

}  // namespace
}  // namespace kin::router
