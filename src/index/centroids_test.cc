#include "index/centroids.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"
#include "index/vector/space.h"

namespace kin::index {
namespace {

std::vector<std::vector<float>> points(std::size_t count, std::size_t dimension) {
  Random random(4);
  std::vector<std::vector<float>> all(count, std::vector<float>(dimension));
  for (auto& point : all) {
    for (float& value : point) value = static_cast<float>(random.unit());
  }
  return all;
}

TEST(NearestInSample, AreTheNearestOthersInOrder) {
  const auto sample = points(300, 19);
  const std::vector<std::uint32_t> queries{0, 7, 299};
  const auto nearest = nearest_in_sample(sample, queries, 10);
  ASSERT_EQ(nearest.size(), 3U);
  for (std::size_t q = 0; q < queries.size(); ++q) {
    std::vector<std::pair<float, std::uint32_t>> all;
    for (std::uint32_t i = 0; i < sample.size(); ++i) {
      if (i != queries[q])
        all.emplace_back(exact_distance(Distance::kL2, sample[queries[q]], sample[i]), i);
    }
    std::ranges::sort(all);
    ASSERT_EQ(nearest[q].size(), 10U);
    for (std::size_t n = 0; n < 10; ++n) {
      EXPECT_EQ(nearest[q][n].place, all[n].second);
      EXPECT_NEAR(nearest[q][n].distance, all[n].first, 1e-4);
    }
  }
}

TEST(NearestInSample, ThereAreFewerThanAskedForInASmallSample) {
  const std::vector<std::vector<float>> sample{{0, 1}, {0, 1}, {3, 1}};
  const std::vector<std::uint32_t> queries{2};
  const auto nearest = nearest_in_sample(sample, queries, 10);
  ASSERT_EQ(nearest[0].size(), 2U);
  EXPECT_EQ(nearest[0][0].place, 0U);  // of equal ones the lower place
  EXPECT_EQ(nearest[0][1].place, 1U);
}

}  // namespace
}  // namespace kin::index
