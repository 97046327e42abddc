#include "router/centroids.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <initializer_list>
#include <map>
#include <set>

#include "base/bytes.h"
#include "base/random.h"
#include "base/sized_text.h"

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

// Every partition on a shard of its own.
std::vector<PartitionOwner> apart(std::size_t partitions) {
  std::vector<PartitionOwner> owners(partitions);
  for (std::uint32_t i = 0; i < partitions; ++i) owners[i].shard = i;
  return owners;
}

struct Found {
  double recall = 0;
  double asked = 0;  // share of the shards
};

// Vectors that the training did not see look for those that it did not see either.
Found find(const Centroids& centroids, std::span<const std::vector<float>> others,
           std::span<const PartitionOwner> owners, std::size_t shards, double recall) {
  constexpr std::size_t kQueries = 200;
  std::size_t found = 0, wanted = 0, asked = 0;
  for (std::size_t query = 0; query < kQueries; ++query) {
    std::vector<std::pair<float, std::size_t>> nearest;
    for (std::size_t i = kQueries; i < others.size(); ++i)
      nearest.emplace_back(index::exact_distance(index::Distance::kL2, others[query], others[i]),
                           i);
    std::ranges::partial_sort(nearest, nearest.begin() + 10);
    const auto near = *centroids.near({.vector = others[query], .recall = recall}, owners);
    asked += near.size();
    for (std::size_t n = 0; n < 10; ++n, ++wanted) {
      const PartitionId at = *centroids.nearest(others[nearest[n].second]);
      found += std::ranges::count(near, owners[static_cast<std::size_t>(at)].shard) > 0 ? 1 : 0;
    }
  }
  return {.recall = static_cast<double>(found) / static_cast<double>(wanted),
          .asked = static_cast<double>(asked) / static_cast<double>(kQueries * shards)};
}

std::vector<std::vector<float>> prepared(std::span<const std::vector<float>> vectors,
                                         index::Distance distance) {
  std::vector<std::vector<float>> all;
  for (const auto& vector : vectors)
    all.push_back(*index::prepared({.dimension = 8, .distance = distance}, vector));
  return all;
}

TEST(Centroids, NearShardsHaveTheRecallThatIsAskedFor) {
  const auto all = clumps(4'000, 40, 2);
  for (const auto distance : {index::Distance::kL2, index::Distance::kCosine}) {
    const auto others = prepared(std::span(all).subspan(2'000), distance);
    for (const std::size_t shards : {0, 4, 8}) {
      const auto centroids = *Centroids::train(space(distance), std::span(all).first(2'000),
                                               {.partitions = 32, .shards = shards});
      std::vector<std::string> names(shards);
      const auto owners =
          shards == 0 ? apart(32) : spread_partitions("things", names, centroids).partitions;
      for (const double recall : {0.9, 0.95, 0.97}) {
        const Found found = find(centroids, others, owners, shards == 0 ? 32 : shards, recall);
        EXPECT_GT(found.recall, recall - 0.02) << shards << " shards";
        EXPECT_LT(found.asked, 0.6) << shards << " shards, recall " << recall;
      }
    }
  }
}

TEST(Centroids, ShardsThatAreMadeLaterCostNoRecall) {
  // What may be missed is a sum over shards: it holds for smaller ones, too.
  const auto all = clumps(4'000, 40, 2);
  const auto centroids =
      *Centroids::train(space(), std::span(all).first(2'000), {.partitions = 32, .shards = 2});
  const Found found = find(centroids, std::span(all).subspan(2'000), apart(32), 32, 0.95);
  EXPECT_GT(found.recall, 0.93);
  EXPECT_LT(found.asked, 0.5);
}

// In clumps that are well apart.
std::vector<std::vector<float>> far_clumps(std::size_t count, std::size_t places,
                                           std::uint64_t seed) {
  Random centre(seed), random(seed + 1);
  std::vector<std::vector<float>> centres(places, std::vector<float>(8));
  for (auto& one : centres) {
    for (float& value : one) value = static_cast<float>(centre.unit() * 8);
  }
  std::vector<std::vector<float>> points;
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<float>& point = points.emplace_back(centres[i % places]);
    for (float& value : point) value += static_cast<float>(random.unit());
  }
  return points;
}

TEST(Centroids, ClumpsThatTheSampleHasOnOneShardAreFoundWhenTheirPartitionsMove) {
  // No neighbours are on two shards, whose distances say nothing of how shares fall.
  const auto all = far_clumps(4'000, 20, 2);
  const auto centroids =
      *Centroids::train(space(), std::span(all).first(2'000), {.partitions = 64, .shards = 4});
  const auto others = std::span(all).subspan(2'000);
  auto owners = spread_partitions("things", std::vector<std::string>(4), centroids).partitions;
  EXPECT_LT(find(centroids, others, owners, 4, 0.98).asked, 0.35);
  Random random(5);
  for (std::size_t i = owners.size(); i-- > 1;) std::swap(owners[i], owners[random.below(i + 1)]);
  const Found found = find(centroids, others, owners, 4, 0.98);
  EXPECT_GT(found.recall, 0.97);
  EXPECT_LT(found.asked, 0.8);
}

TEST(Centroids, AVectorThatIsUnlikeTheSampleIsSoughtEverywhere) {
  const auto sample = far_clumps(2'000, 20, 2);
  const auto centroids = *Centroids::train(space(), sample, {.partitions = 64});
  std::size_t known = 0, unlike = 0;
  for (const auto& vector : far_clumps(200, 20, 2))
    known += centroids.near({.vector = vector, .recall = 0.95}, apart(64))->size() < 64 ? 1 : 0;
  for (const auto& vector : far_clumps(200, 20, 77))
    unlike += centroids.near({.vector = vector, .recall = 0.95}, apart(64))->size() == 64 ? 1 : 0;
  EXPECT_GT(known, 180U);
  EXPECT_GT(unlike, 180U);
}

TEST(Centroids, PartitionsAreDividedByTheirVectors) {
  // Half of the vectors are around one of ten places.
  auto sample = clumps(1'000, 10, 1);
  const auto more = clumps(1'000, 1, 2);
  sample.insert(sample.end(), more.begin(), more.end());
  const auto centroids = *Centroids::train(space(), sample, {.partitions = 40, .shards = 4});
  const ShardMap map = spread_partitions("things", {"a:1", "b:1", "c:1", "d:1"}, centroids);
  std::vector<std::size_t> held(4, 0);
  for (const auto& vector : sample) ++held[map.shard_of(*centroids.nearest(vector))];
  EXPECT_LT(std::ranges::max(held), 650U);
  EXPECT_GT(std::ranges::min(held), 350U);
  // For another number of shards they are spread as they are numbered.
  const std::vector<std::string> two{"a:1", "b:1"};
  EXPECT_EQ(spread_partitions("things", two, centroids), spread_partitions("things", two, 40));
}

TEST(Centroids, FarHitsAreSoughtOnMoreShards) {
  const auto sample = clumps(2'000, 40, 2);
  for (const auto distance : {index::Distance::kL2, index::Distance::kCosine}) {
    const auto centroids = *Centroids::train(space(distance), sample, {.partitions = 32});
    NearSearch search{.vector = sample[0], .recall = 0.95};
    const auto first = *centroids.near(search, apart(32));
    search.last = 0.9999;  // nearer than neighbours usually are
    EXPECT_EQ(*centroids.near(search, apart(32)), first);
    search.last = 0.1;
    EXPECT_GT(centroids.near(search, apart(32))->size(), first.size());
  }
}

TEST(Centroids, FarHitsAreSoughtOnMoreShardsAlsoIfTheSampleNeededOne) {
  // Each clump is on one shard, so the sample loses nothing by asking one.
  const auto sample = clumps(400, 4, 1);
  const auto trained = [&] {
    for (std::uint64_t seed = 1;; ++seed) {
      auto made = *Centroids::train(space(), sample, {.partitions = 4, .seed = seed});
      std::set<PartitionId> places;
      for (std::size_t i = 0; i < 4; ++i) places.insert(*made.nearest(sample[i]));
      if (places.size() == 4) return made;
    }
  };
  const Centroids centroids = trained();
  NearSearch search{.vector = sample[0], .recall = 0.95};
  EXPECT_EQ(centroids.near(search, apart(4))->size(), 1U);
  search.last = 0.001;
  EXPECT_EQ(centroids.near(search, apart(4))->size(), 4U);
}

TEST(Centroids, NothingIsSkippedForProductsAndForEverything) {
  const auto sample = clumps(200, 10, 1);
  const auto products = *Centroids::train(space(index::Distance::kDot), sample, {.partitions = 10});
  EXPECT_EQ(products.near({.vector = sample[0], .recall = 0.8}, apart(10))->size(), 10U);
  const auto far = *Centroids::train(space(), sample, {.partitions = 10});
  EXPECT_EQ(far.near({.vector = sample[0], .recall = 1}, apart(10))->size(), 10U);
  EXPECT_LT(far.near({.vector = sample[0], .recall = 0.8}, apart(10))->size(), 10U);
}

TEST(Centroids, ASampleThatDoesNotFitIsRefused) {
  EXPECT_FALSE(Centroids::train(space(), {}, {}).ok());
  const std::vector<std::vector<float>> short_one{{1, 2, 3}};
  EXPECT_FALSE(Centroids::train(space(), short_one, {}).ok());
}

void append_floats(std::string& out, std::initializer_list<float> values) {
  for (const float value : values) append_le(out, std::bit_cast<std::uint32_t>(value));
}

// Two partitions in two dimensions. From version 3 on the second may have no centroid; in version 4
// it has a spot.
std::string written_as(std::uint16_t version) {
  std::string out("KCEN");
  append_le(out, version);
  append_le(out, static_cast<std::uint8_t>(index::Distance::kL2));
  append_sized(out, "main");
  for (const std::uint32_t number : {2U, 2U, 8U, 2U}) append_le(out, number);
  if (version == 4) append_le(out, std::uint32_t{3});
  append_floats(out, {0, 0, 5, 0});                          // centroids
  append_floats(out, {0.75F, version == 2 ? 0.25F : 0.0F});  // shares
  append_floats(out, {2, 0.5F});                             // sharpness, reach
  if (version == 4) append_floats(out, {9});                 // radius
  append_floats(out, {0.5F, 0.25F, 0.125F, 0, 0, 0, 0, 0});  // passed over
  for (const std::uint32_t group : {0U, 1U}) append_le(out, group);
  if (version == 4) {
    append_floats(out, {0, 0, 1, 0, 4, 0});
    append_floats(out, {0.5F, 0.25F, 0.25F});
    for (const std::uint32_t partition : {0U, 1U, 1U}) append_le(out, partition);
  }
  append_le(out, checksum(out));
  return out;
}

// A change here is a change of format: raise the version and keep reading the old one.
TEST(CentroidsFormat, BytesStayAsTheyWere) {
  for (const std::uint16_t version : {2, 3, 4}) {
    const auto read = Centroids::decode(written_as(version));
    ASSERT_TRUE(read.ok()) << version << " " << read.error().message;
    EXPECT_EQ(read->encode(), written_as(version));
    EXPECT_EQ(read->has_centroid(PartitionId{1}), version == 2);
    EXPECT_EQ(read->groups(), (std::vector<std::uint32_t>{0, 1}));
  }
  // Trained vectors may differ in the last bit between machines; these are exact.
  const std::vector<std::vector<float>> sample{{1, 0, 0, 0, 0, 0, 0, 0}};
  const auto centroids = *Centroids::train(space(), sample, {.partitions = 1});
  EXPECT_EQ(centroids.encode()[4], 4);
  EXPECT_EQ(hash64(centroids.encode()), 2465136834087507270ULL);
}

TEST(CentroidsFormat, SpotsAndTheRadiusSayWhichShardsAreNear) {
  const auto read = *Centroids::decode(written_as(4));
  const auto near = [&](std::vector<float> vector) {
    return *read.near({.vector = vector, .recall = 0.95}, apart(2));
  };
  EXPECT_EQ(near({-1, 0}), (std::vector<std::uint32_t>{0}));
  EXPECT_EQ(near({4, 0}), (std::vector<std::uint32_t>{1})) << "a partition without a centroid";
  EXPECT_EQ(near({8, 0}).size(), 2U) << "farther from all spots than what was measured";
  const auto before = *Centroids::decode(written_as(2));
  EXPECT_EQ(before.near({.vector = std::vector<float>{9, 0}, .recall = 0.95}, apart(2))->size(),
            1U);
}

// Version 1 has ratios of distances: 2 in this index, for all recalls.
std::string first_version() {
  std::string out("KCEN");
  append_le(out, std::uint16_t{1});
  append_le(out, static_cast<std::uint8_t>(index::Distance::kL2));
  append_sized(out, "main");
  for (const std::uint32_t number : {2U, 3U, 5U}) append_le(out, number);
  for (const float value : {0.F, 0.F, 0.F, 3.F, 0.F, 9.F, 2.F, 2.F, 2.F, 2.F, 2.F})
    append_le(out, std::bit_cast<std::uint32_t>(value));
  append_le(out, checksum(out));
  return out;
}

TEST(CentroidsFormat, TheFirstVersionIsReadAndSearchedByItsRatios) {
  const auto centroids = Centroids::decode(first_version());
  ASSERT_TRUE(centroids.ok()) << centroids.error().message;
  EXPECT_EQ(centroids->encode(), first_version());
  const std::vector<float> query{0, 1.2F};  // 1.2, 1.8 and 7.8 from the centroids
  EXPECT_EQ(*centroids->near({.vector = query, .recall = 0.95}, apart(3)),
            (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(centroids->near({.vector = query, .recall = 1}, apart(3))->size(), 3U);
}

TEST(CentroidsFormat, DecodesWhatItEncodedAndFindsDamage) {
  const auto centroids =
      *Centroids::train(space(), clumps(50, 3, 1), {.partitions = 3, .shards = 2});
  const std::string bytes = centroids.encode();
  const auto decoded = Centroids::decode(bytes);
  ASSERT_TRUE(decoded.ok()) << decoded.error().message;
  EXPECT_EQ(decoded->encode(), bytes);
  EXPECT_EQ(decoded->space(), "main");
  EXPECT_EQ(decoded->groups(), centroids.groups());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 16);
    EXPECT_FALSE(Centroids::decode(damaged).ok()) << i;
    EXPECT_FALSE(Centroids::decode(bytes.substr(0, i)).ok()) << i;
  }
}

TEST(DividedCentroids, ASplitAddsACentroidAndDividesTheShare) {
  const auto sample = clumps(400, 4, 1);
  const auto before = *Centroids::train(space(), sample, {.partitions = 4});
  const std::vector<float> centre(8, 9.0F);
  const auto after = before.divided(
      {.members = {PartitionId{1}, PartitionId{4}},
       .centres = {{PartitionId{1}, std::vector<float>(8, 1.0F)}, {PartitionId{4}, centre}},
       .sizes = {{PartitionId{1}, 2}, {PartitionId{4}, 0}}});
  ASSERT_TRUE(after.ok()) << after.error().message;
  EXPECT_EQ(after->size(), 5U);
  EXPECT_EQ(*after->nearest(centre), PartitionId{4});
  EXPECT_EQ(*after->nearest_of(std::vector<float>(8, 1.0F), {PartitionId{1}, PartitionId{4}}),
            PartitionId{1});
  EXPECT_EQ(*after->nearest_of(centre, {PartitionId{1}}), PartitionId{1});
  EXPECT_TRUE(
      std::ranges::equal(after->centre_of(PartitionId{2}), before.centre_of(PartitionId{2})));
  const auto read = Centroids::decode(after->encode());
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->encode(), after->encode());
}

TEST(DividedCentroids, APartitionThatIsMergedAwayGetsNoVectorsAndNoShare) {
  const auto sample = clumps(400, 4, 1);
  const auto before = *Centroids::train(space(), sample, {.partitions = 4});
  const std::vector<float> centre(before.centre_of(PartitionId{2}).begin(),
                                  before.centre_of(PartitionId{2}).end());
  EXPECT_EQ(*before.nearest(centre), PartitionId{2});
  const auto after = before.divided({.members = {PartitionId{2}, PartitionId{3}},
                                     .centres = {{PartitionId{3}, std::vector<float>(8, 3.0F)}}});
  ASSERT_TRUE(after.ok()) << after.error().message;
  EXPECT_FALSE(after->has_centroid(PartitionId{2}));
  EXPECT_TRUE(after->centre_of(PartitionId{2}).empty());
  EXPECT_NE(*after->nearest(centre), PartitionId{2});
  // Where neighbours are was measured with the placement of before.
  EXPECT_EQ(after->near({.vector = centre, .recall = 0.9}, apart(4))->size(), 4U);
  // Version 3, which earlier programs do not read.
  const std::string bytes = after->encode();
  EXPECT_EQ(bytes[4], 3);
  const auto read = Centroids::decode(bytes);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_FALSE(read->has_centroid(PartitionId{2}));
  EXPECT_EQ(read->encode(), bytes);
  // A later split uses the number.
  const auto again = read->divided(
      {.members = {PartitionId{2}, PartitionId{3}},
       .centres = {{PartitionId{2}, centre}, {PartitionId{3}, std::vector<float>(8, 3.0F)}}});
  EXPECT_EQ(again->encode()[4], 2);
  EXPECT_EQ(*again->nearest(centre), PartitionId{2});
}

// Vectors that were placed by old centroids, and new centroids of two of the shards.
TEST(MeasuredCentroids, ShardsArePassedOverByWhereTheVectorsAre) {
  const auto sample = far_clumps(1'000, 10, 2);
  const auto before = *Centroids::train(space(), sample, {.partitions = 16, .shards = 4});
  const auto owners = spread_partitions("things", std::vector<std::string>(4), before).partitions;
  auto all = far_clumps(2'000, 10, 2);
  const auto grown = far_clumps(6'000, 30, 50);
  all.insert(all.end(), grown.begin(), grown.end());
  Random random(4);
  for (std::size_t i = all.size(); i-- > 1;) std::swap(all[i], all[random.below(i + 1)]);
  PlacedVectors placed{.vectors = all};
  for (const auto& vector : all)
    placed.partitions.push_back(static_cast<std::uint32_t>(*before.nearest(vector)));

  NewCells cells;
  std::map<PartitionId, std::vector<double>> sums;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const PartitionId at{placed.partitions[i]};
    if (owners[placed.partitions[i]].shard > 1) continue;
    cells.members.insert(at);
    ++cells.sizes[at];
    sums[at].resize(8);
    for (std::size_t d = 0; d < 8; ++d) sums[at][d] += static_cast<double>(all[i][d]);
  }
  for (const auto& [member, sum] : sums) {
    for (const double value : sum)
      cells.centres[member].push_back(
          static_cast<float>(value / static_cast<double>(cells.sizes[member])));
  }
  const auto divided = *before.divided(cells);
  const auto measured = divided.measured(placed, owners, 1);
  ASSERT_TRUE(measured.ok()) << measured.error().message;

  const auto recall_of = [&](const Centroids& centroids) {
    Found found;
    constexpr std::size_t kQueries = 150;
    for (std::size_t query = 0; query < kQueries; ++query) {
      std::vector<std::pair<float, std::size_t>> nearest;
      for (std::size_t i = kQueries; i < all.size(); ++i)
        nearest.emplace_back(index::exact_distance(index::Distance::kL2, all[query], all[i]), i);
      std::ranges::partial_sort(nearest, nearest.begin() + 10);
      const auto near = *centroids.near({.vector = all[query], .recall = 0.98}, owners);
      found.asked += static_cast<double>(near.size()) / (4 * kQueries);
      for (std::size_t n = 0; n < 10; ++n)
        found.recall +=
            std::ranges::count(near, owners[placed.partitions[nearest[n].second]].shard) > 0
                ? 1.0 / (10 * kQueries)
                : 0;
    }
    return found;
  };
  EXPECT_NEAR(recall_of(divided).asked, 1, 1e-9) << "nothing is measured yet";
  const Found found = recall_of(*measured);
  EXPECT_GT(found.recall, 0.96);
  EXPECT_LT(found.asked, 0.75);
  const auto read = Centroids::decode(measured->encode());
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->encode(), measured->encode());
  // What is measured goes away with the next repartition, until that is measured.
  EXPECT_NEAR(recall_of(*measured->divided(cells)).asked, 1, 1e-9);
}

TEST(MeasuredCentroids, NothingIsPassedOverByTooFewVectors) {
  const auto sample = far_clumps(400, 4, 1);
  const auto before = *Centroids::train(space(), sample, {.partitions = 4});
  const auto divided = *before.divided(
      {.members = {PartitionId{1}}, .centres = {{PartitionId{1}, std::vector<float>(8, 1)}}});
  PlacedVectors few{.vectors = far_clumps(100, 4, 1), .partitions = std::vector(100, 1U)};
  const auto measured = divided.measured(few, apart(4), 1);
  ASSERT_TRUE(measured.ok()) << measured.error().message;
  EXPECT_EQ(measured->near({.vector = sample[0], .recall = 0.8}, apart(4))->size(), 4U);
  few.partitions.back() = 4;
  EXPECT_EQ(divided.measured(few, apart(4), 1).error().code, Code::kInvalidArgument);
}

TEST(DividedCentroids, CellsThatDoNotFitAreRefused) {
  const auto sample = clumps(400, 4, 1);
  const auto before = *Centroids::train(space(), sample, {.partitions = 4});
  const std::vector<float> centre(8, 1.0F);
  const auto code = [&](NewCells cells) { return before.divided(cells).error().code; };
  EXPECT_EQ(code({.members = {PartitionId{1}}}), Code::kInvalidArgument);
  EXPECT_EQ(
      code({.members = {PartitionId{1}, PartitionId{9}}, .centres = {{PartitionId{9}, centre}}}),
      Code::kInvalidArgument);
  EXPECT_EQ(code({.members = {PartitionId{1}}, .centres = {{PartitionId{2}, centre}}}),
            Code::kInvalidArgument);
  EXPECT_EQ(code({.members = {PartitionId{1}}, .centres = {{PartitionId{1}, {1, 2}}}}),
            Code::kInvalidArgument);
}

}  // namespace
}  // namespace kin::router
