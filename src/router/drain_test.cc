#include "router/drain.h"

#include <gtest/gtest.h>

namespace kin::router {
namespace {

using index::PartitionId;

TEST(Drain, LargePartitionsGoFirstToTheShardWithTheLeast) {
  const ShardMap map = spread_partitions("papers", {"a:1", "b:1", "c:1"}, 9);
  index::PartitionSizes sizes;
  for (std::uint32_t i = 0; i < 9; ++i) sizes[PartitionId{i}] = 10 + i;
  sizes[PartitionId{1}] = 100;
  const auto moves = plan_drain(map, 0, sizes);
  ASSERT_TRUE(moves.ok()) << moves.error().message;
  ASSERT_EQ(moves->size(), 3U);
  EXPECT_EQ((*moves)[0].partition, PartitionId{1});
  EXPECT_EQ((*moves)[0].target, 1U);  // 42 entities; the other has 51
  EXPECT_EQ((*moves)[1].partition, PartitionId{2});
  EXPECT_EQ((*moves)[1].target, 2U);
  EXPECT_EQ((*moves)[2].target, 2U);
}

TEST(Drain, EmptyPartitionsAreSpreadByTheirNumber) {
  const ShardMap map = spread_partitions("papers", {"a:1", "b:1", "c:1"}, 12);
  const auto moves = plan_drain(map, 2, {});
  ASSERT_TRUE(moves.ok()) << moves.error().message;
  std::size_t to_first = 0;
  for (const NewMove& move : *moves) to_first += move.target == 0 ? 1 : 0;
  EXPECT_EQ(moves->size(), 4U);
  EXPECT_EQ(to_first, 2U);
}

TEST(Drain, AShardThatWasDrainedBeforeStaysEmpty) {
  ShardMap map = spread_partitions("papers", {"a:1", "b:1"}, 4);
  map.shards.emplace_back("drained:1");
  const auto moves = plan_drain(map, 0, {});
  for (const NewMove& move : *moves) EXPECT_EQ(move.target, 1U);
  for (PartitionOwner& owner : map.partitions) owner.shard = 0;
  EXPECT_EQ(plan_drain(map, 0, {})->size(), 4U) << "all others are empty";
}

TEST(Drain, NeedsAnotherShard) {
  const ShardMap map = spread_partitions("papers", {"a:1"}, 2);
  EXPECT_EQ(plan_drain(map, 0, {}).error().code, Code::kInvalidArgument);
  EXPECT_EQ(plan_drain(map, 1, {}).error().code, Code::kInvalidArgument);
}

}  // namespace
}  // namespace kin::router
