#include "router/centroids.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"

namespace kin::router {
namespace {

using index::PartitionId;

index::SpaceOptions space(index::Distance distance = index::Distance::kL2) {
  return {.name = "main", .space = {.dimension = 8, .distance = distance}};
}

// Points around `clumps` places.
std::vector<std::vector<float>> clumps(std::size_t count, std::size_t clumps, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::vector<float>> points;
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<float> point(8);
    Random place(i % clumps);
    for (float& value : point) value = static_cast<float>(place.unit() * 4 + random.unit() + 0.01);
    points.push_back(std::move(point));
  }
  return points;
}

TEST(Centroids, AVectorBelongsToTheNearest) {
  const auto places = clumps(4, 4, 1);
  const auto centroids = Centroids::train(space(), places, {.partitions = 4});
  ASSERT_TRUE(centroids.ok()) << centroids.error().message;
  EXPECT_EQ(centroids->size(), 4U);
  for (std::vector<float> vector : places) {
    const PartitionId at = *centroids->nearest(vector);
    vector[0] += 0.01F;
    EXPECT_EQ(*centroids->nearest(vector), at);
  }
}

TEST(Centroids, NearPartitionsHaveTheRecallThatIsAskedFor) {
  for (const auto distance : {index::Distance::kL2, index::Distance::kCosine}) {
    const auto all = clumps(3'000, 40, 2);
    const auto centroids =
        *Centroids::train(space(distance), std::span(all).first(1'500), {.partitions = 32});
    // Vectors that the training did not see look for those that it did not see either.
    const index::VectorSpace shape{.dimension = 8, .distance = distance};
    std::vector<std::vector<float>> others;
    for (std::size_t i = 1'500; i < all.size(); ++i)
      others.push_back(*index::prepared(shape, all[i]));
    std::size_t found = 0, wanted = 0, asked = 0;
    for (std::size_t query = 0; query < 100; ++query) {
      std::vector<std::pair<float, std::size_t>> nearest;
      for (std::size_t i = 100; i < others.size(); ++i)
        nearest.emplace_back(index::exact_distance(index::Distance::kL2, others[query], others[i]),
                             i);
      std::ranges::partial_sort(nearest, nearest.begin() + 10);
      const auto near = *centroids.near(others[query], 0.95);
      asked += near.size();
      for (std::size_t n = 0; n < 10; ++n, ++wanted) {
        const PartitionId at = *centroids.nearest(others[nearest[n].second]);
        found += std::ranges::count(near, at) > 0 ? 1 : 0;
      }
    }
    EXPECT_GT(static_cast<double>(found) / static_cast<double>(wanted), 0.93);
    EXPECT_LT(asked * 2, 100U * 32U);  // and most partitions are skipped
  }
}

TEST(Centroids, NothingIsSkippedForProductsAndForEverything) {
  const auto sample = clumps(100, 10, 1);
  const auto products = *Centroids::train(space(index::Distance::kDot), sample, {.partitions = 10});
  EXPECT_EQ(products.near(sample[0], 0.8)->size(), 10U);
  const auto far = *Centroids::train(space(), sample, {.partitions = 10});
  EXPECT_EQ(far.near(sample[0], 1)->size(), 10U);
  EXPECT_LT(far.near(sample[0], 0.8)->size(), 10U);
}

TEST(Centroids, ASampleThatDoesNotFitIsRefused) {
  EXPECT_FALSE(Centroids::train(space(), {}, {}).ok());
  const std::vector<std::vector<float>> short_one{{1, 2, 3}};
  EXPECT_FALSE(Centroids::train(space(), short_one, {}).ok());
}

// A change here is a change of format: raise the version and keep reading the old one.
TEST(CentroidsFormat, BytesStayAsTheyWere) {
  // Trained vectors may differ in the last bit between machines; these are exact.
  const std::vector<std::vector<float>> sample{{1, 0, 0, 0, 0, 0, 0, 0}};
  const auto centroids = *Centroids::train(space(), sample, {.partitions = 1});
  EXPECT_EQ(hash64(centroids.encode()), 16730077355738733110ULL);
}

TEST(CentroidsFormat, DecodesWhatItEncodedAndFindsDamage) {
  const auto centroids = *Centroids::train(space(), clumps(50, 3, 1), {.partitions = 3});
  const std::string bytes = centroids.encode();
  const auto decoded = Centroids::decode(bytes);
  ASSERT_TRUE(decoded.ok()) << decoded.error().message;
  EXPECT_EQ(decoded->encode(), bytes);
  EXPECT_EQ(decoded->space(), "main");
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 16);
    EXPECT_FALSE(Centroids::decode(damaged).ok()) << i;
    EXPECT_FALSE(Centroids::decode(bytes.substr(0, i)).ok()) << i;
  }
}

}  // namespace
}  // namespace kin::router
