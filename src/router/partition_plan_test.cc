#include "router/partition_plan.h"

#include <gtest/gtest.h>

namespace kin::router {
namespace {

using index::PartitionId;

// Eight partitions on two shards, whose centroids are on a line.
class PartitionPlan : public testing::Test {
 protected:
  PartitionPlan() {
    std::vector<std::vector<float>> sample;
    for (int i = 0; i < 80; ++i) sample.push_back({static_cast<float>(i % 8), 0});
    const auto trained = Centroids::train(
        {.name = "main", .space = {.dimension = 2, .distance = index::Distance::kL2}}, sample,
        {.partitions = 8});
    NewCells cells;
    for (std::uint32_t i = 0; i < 8; ++i) {
      cells.members.insert(PartitionId{i});
      cells.centres[PartitionId{i}] = {static_cast<float>(i), 0};
      entities_[PartitionId{i}] = 1'000;
    }
    centroids_ = *trained->divided(cells);
    options_.least = 100;
  }

  std::vector<NewRepartition> plan() {
    return plan_partitions(map_, *centroids_, entities_, options_);
  }

  ShardMap map_ = spread_partitions("papers", {"one:1", "two:2"}, 8);
  std::optional<Centroids> centroids_;
  PartitionWeights entities_;
  PartitionPlanOptions options_;
};

TEST_F(PartitionPlan, EqualPartitionsStay) {
  EXPECT_TRUE(plan().empty());
  entities_[PartitionId{3}] = 2'000;
  EXPECT_TRUE(plan().empty());
  entities_.clear();
  EXPECT_TRUE(plan().empty());
}

TEST_F(PartitionPlan, ALargePartitionIsSplitIntoPartsOfTheMean) {
  entities_[PartitionId{3}] = 17'000;
  const auto split = plan();
  ASSERT_EQ(split.size(), 1U);
  EXPECT_EQ(split[0].partitions, Partitions{PartitionId{3}});
  EXPECT_EQ(split[0].added, 5U);  // the mean is 3,000
  EXPECT_TRUE(split[0].retired.empty());
  options_.fixed = {PartitionId{3}};
  EXPECT_TRUE(plan().empty());
  options_.fixed.clear();
  options_.least = 20'000;
  EXPECT_TRUE(plan().empty());
}

// All have grown alike: the mean says nothing.
TEST_F(PartitionPlan, ATargetSplitsEveryPartitionThatHasGrown) {
  options_.target = 250;
  const auto split = plan();
  ASSERT_EQ(split.size(), 8U);
  EXPECT_EQ(split[0].added, 3U);
  options_.most = 3;
  EXPECT_EQ(plan().size(), 3U);
}

TEST_F(PartitionPlan, SmallNeighboursOfOneShardAreMerged) {
  for (const std::uint32_t small : {0U, 2U, 3U, 4U}) entities_[PartitionId{small}] = 20;
  const auto merged = plan();
  ASSERT_EQ(merged.size(), 1U);  // 4 is alone on its shard, and 0 is farther from the others
  EXPECT_EQ(merged[0].partitions.size(), 2U);
  EXPECT_EQ(merged[0].retired.size(), 1U);
  EXPECT_EQ(merged[0].added, 0U);
  EXPECT_FALSE(merged[0].partitions.contains(PartitionId{4}));
  // What comes of it is not split again, nor merged further.
  for (const auto& one : merged) {
    for (const PartitionId partition : one.partitions) options_.fixed.insert(partition);
  }
  EXPECT_TRUE(plan().empty());
}

TEST_F(PartitionPlan, RetrainingTakesThePartitionsOfAShardThatHaveACentroid) {
  EXPECT_EQ(retrained(map_, *centroids_, 1).partitions,
            (Partitions{PartitionId{4}, PartitionId{5}, PartitionId{6}, PartitionId{7}}));
  centroids_ = *centroids_->divided(
      {.members = {PartitionId{5}, PartitionId{6}}, .centres = {{PartitionId{6}, {5.5F, 0}}}});
  EXPECT_EQ(retrained(map_, *centroids_, 1).partitions,
            (Partitions{PartitionId{4}, PartitionId{6}, PartitionId{7}}));
}

}  // namespace
}  // namespace kin::router
