#include "router/placement/prospects.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "base/random.h"

namespace kin::router {
namespace {

std::vector<PartitionOwner> owners_of(const std::vector<std::uint32_t>& shards) {
  std::vector<PartitionOwner> owners;
  for (const std::uint32_t shard : shards) owners.push_back({.shard = shard});
  return owners;
}

TEST(Prospects, SharesFallWithDistanceAndGrowWithWeight) {
  const std::vector<float> weights{1, 1, 2};
  const std::vector<double> distances{100, 101, 101};
  const auto shares = expected_shares(weights, distances, 1);
  EXPECT_NEAR(std::accumulate(shares.begin(), shares.end(), 0.0), 1, 1e-12);
  EXPECT_NEAR(shares[1] / shares[0], std::exp(-1), 1e-12);
  EXPECT_NEAR(shares[2] / shares[1], 2, 1e-12);
  // However far away all are, and however sharp: the nearest one has a share.
  EXPECT_EQ(expected_shares(weights, std::vector<double>{1e9, 2e9, 3e9}, 1e9)[0], 1);
}

TEST(Prospects, ShardsAreInOrderWithWhatTheRestHolds) {
  const std::vector<double> shares{0.125, 0.5, 0.125, 0.25};
  const auto all = prospects(shares, owners_of({5, 2, 5, 0}));  // 1, 3 and 4 own nothing
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].shard, 2U);
  EXPECT_NEAR(all[0].rest, 1, 1e-12);
  EXPECT_EQ(all[1].shard, 0U) << "of equal ones the lower number";
  EXPECT_NEAR(all[1].rest, 0.5, 1e-12);
  EXPECT_EQ(all[2].shard, 5U);
  EXPECT_NEAR(all[2].rest, 0.25, 1e-12);
}

TEST(Prospects, SharpnessIsFoundAgain) {
  // Neighbours fall on two partitions as a sharpness of 2 says.
  const std::vector<float> weights{1, 1};
  const auto owners = owners_of({0, 1});
  Random random(5);
  std::vector<KnownQuery> queries;
  for (int i = 0; i < 2'000; ++i) {
    KnownQuery& query = queries.emplace_back();
    query.distances = {0.5, 0.5 + 2 * random.unit()};
    const double first = expected_shares(weights, query.distances, 2)[0];
    for (int n = 0; n < 10; ++n) query.neighbours.push_back(random.unit() < first ? 0 : 1);
  }
  const double found = best_sharpness(queries, weights, owners);
  EXPECT_GT(found, 1.6);
  EXPECT_LT(found, 2.5);
}

TEST(Prospects, RestsAreThoseOfTheNeighboursShards) {
  const std::vector<float> weights{1, 1};
  const std::vector<KnownQuery> queries{{.distances = {1, 2}, .neighbours = {0, 0, 1}}};
  const auto rests = rests_needed(queries, weights, owners_of({0, 1}), 1);
  const double second = 1 / (1 + std::exp(1));
  ASSERT_EQ(rests.size(), 3U);
  EXPECT_NEAR(rests[0], second, 1e-12);
  EXPECT_NEAR(rests[1], 1, 1e-12);
  EXPECT_NEAR(rests[2], 1, 1e-12);
}

}  // namespace
}  // namespace kin::router
