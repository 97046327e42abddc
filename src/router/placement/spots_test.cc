#include "router/placement/spots.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "base/random.h"

namespace kin::router {
namespace {

// Partition 3 has vectors around 0 and around 10, partition 5 a few around 20, on a line.
PlacedVectors two_partitions() {
  Random random(3);
  PlacedVectors placed;
  for (int i = 0; i < 200; ++i) {
    placed.vectors.push_back({static_cast<float>(i % 2 * 10 + random.unit())});
    placed.partitions.push_back(3);
  }
  for (int i = 0; i < 4; ++i) {
    placed.vectors.push_back({static_cast<float>(20 + random.unit())});
    placed.partitions.push_back(5);
  }
  return placed;
}

Spots learnt(const PlacedVectors& placed) {
  std::vector<std::uint32_t> places(placed.vectors.size());
  std::iota(places.begin(), places.end(), 0U);
  return learn_spots(placed, places, 7);
}

TEST(Spots, AreWhereThePartitionsHoldVectors) {
  const Spots spots = learnt(two_partitions());
  ASSERT_EQ(spots.values.size(), spots.weights.size());
  ASSERT_EQ(spots.partitions.size(), spots.weights.size());
  EXPECT_EQ(std::accumulate(spots.weights.begin(), spots.weights.end(), 0.0F), 204);
  float low = 0, high = 0;
  for (std::size_t i = 0; i < spots.values.size(); ++i) {
    const float at = spots.values[i];
    if (spots.partitions[i] == 5) {
      EXPECT_NEAR(at, 20.5, 0.5);
      EXPECT_EQ(spots.weights[i], 4);
      continue;
    }
    EXPECT_TRUE((at > 0 && at < 1) || (at > 10 && at < 11)) << at;
    (at < 5 ? low : high) += spots.weights[i];
  }
  EXPECT_EQ(low, 100);
  EXPECT_EQ(high, 100);
  EXPECT_EQ(std::ranges::count(spots.partitions, 5U), 1);
}

TEST(Spots, GiveTheirSharesToPartitionsAndTheirOwners) {
  const Spots spots{.values = {0, 1, 5}, .weights = {1, 1, 1}, .partitions = {2, 2, 0}};
  const std::vector<float> query{1};
  EXPECT_EQ(spots.distances(query), (std::vector<double>{1, 0, 16}));
  EXPECT_EQ(spots.sums(std::vector<double>{0.25, 0.5, 0.25}, 3),
            (std::vector<double>{0.25, 0, 0.75}));
  const std::vector<PartitionOwner> owners{{.shard = 7}, {.shard = 8}, {.shard = 9}};
  EXPECT_EQ(spots.owners(owners), (std::vector<PartitionOwner>{owners[2], owners[2], owners[0]}));
}

}  // namespace
}  // namespace kin::router
