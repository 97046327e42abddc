#include "router/repartition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/random.h"
#include "base/sized_text.h"
#include "base/testing/manual_clock.h"
#include "index/shard.h"
#include "router/mover.h"
#include "router/testing/local_cluster.h"

namespace kin::router {
namespace {

using index::PartitionId;
using testing::ElementsAre;
using testing::HasSubstr;

Repartition made() {
  return {.id = 9,
          .phase = RepartitionPhase::kPlacing,
          .shard = 1,
          .members = {PartitionId{3}, PartitionId{7}},
          .retired = {PartitionId{7}},
          .added = 2,
          .epoch = 5,
          .partitions = 8,
          .before = {.low = 1, .high = 2},
          .after = {.low = 3, .high = 4},
          .terms = {0, 6},
          .reason = "as asked"};
}

// A change here is a change of format: raise the version and keep reading the old one.
TEST(RepartitionFormat, BytesStayAsTheyWere) {
  std::string bytes("KPAR");
  append_le(bytes, std::uint16_t{1});
  append_le(bytes, std::uint64_t{9});
  bytes += '\x03';
  for (const std::uint32_t number : {1U, 2U, 3U, 7U, 1U, 7U, 2U}) append_le(bytes, number);
  append_le(bytes, std::uint64_t{5});
  append_le(bytes, std::uint32_t{8});
  for (const std::uint64_t half : {1U, 2U, 3U, 4U}) append_le(bytes, half);
  append_le(bytes, std::uint32_t{2});
  for (const std::uint64_t term : {0U, 6U}) append_le(bytes, term);
  append_sized(bytes, "as asked");
  append_le(bytes, checksum(bytes));
  EXPECT_EQ(encode(made()), bytes);
  EXPECT_EQ(repartition_key("papers"), "repartition/papers");
}

TEST(RepartitionFormat, DecodesWhatItEncodedAndFindsDamage) {
  EXPECT_EQ(*decode_repartition(encode(made())), made());
  const std::string bytes = encode(made());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 16);
    EXPECT_FALSE(decode_repartition(damaged).ok()) << i;
    EXPECT_FALSE(decode_repartition(bytes.substr(0, i)).ok()) << i;
  }
}

// Two shards with vectors around eight places.
class RepartitionTest : public testing::Test {
 protected:
  static constexpr std::size_t kThings = 80;

  RepartitionTest()
      : cluster_({.shards = 2, .partitions = 4, .shard = options(), .sample = sample()}) {
    for (std::size_t i = 0; i < kThings; ++i) put(i);
    write({index::RemoveEntity{.id = id(3)}});
  }

  index::ShardOptions options() {
    index::ShardOptions options;
    options.clock = &clock_;
    options.spaces = {
        {.name = "main", .space = {.dimension = 2, .distance = index::Distance::kL2}}};
    return options;
  }
  static std::vector<float> vector_of(std::size_t i) {
    Random random(i);
    const auto clump = static_cast<float>(i % 8);
    return {clump + static_cast<float>(random.unit()) / 4,
            static_cast<float>(random.unit()) / 4 + static_cast<float>(i % 2)};
  }
  static std::vector<std::vector<float>> sample() {
    std::vector<std::vector<float>> vectors;
    for (std::size_t i = 0; i < 80; ++i) vectors.push_back(vector_of(1'000 + i));
    return vectors;
  }
  static DocId id(std::size_t i) { return doc_id_of("test", std::to_string(i)); }

  void write(std::vector<index::Mutation> mutations) {
    const auto written = cluster_.router().write(mutations);
    ASSERT_TRUE(written.ok()) << written.error().message;
    for (const auto& problem : written->problems) ADD_FAILURE() << problem.error.message;
  }
  void put(std::size_t i, const std::string& text = "tide") {
    index::PutEntity put;
    put.entity = {.id = id(i), .key = std::to_string(i), .source = "test", .text = text};
    put.entity.vectors = {{"main", vector_of(i)}};
    index::PutEdge link;
    link.edge.id = {.from = id(i), .name = "next", .to = id(i + 1)};
    write({put, link});
  }

  MoverOptions mover_options() { return {.clock = &clock_, .page = 7, .removed = 7, .divided = 5}; }
  Repartition last() { return (*read_repartition(cluster_.meta(), "things"))->repartition; }
  void step_to(Mover& mover, RepartitionPhase phase) {
    for (int steps = 0; last().phase != phase; ++steps) {
      ASSERT_LT(steps, 500) << name_of(last().phase) << " " << last().reason;
      const auto outcome = mover.step();
      ASSERT_TRUE(outcome.ok()) << outcome.error().message;
      const auto next = outcome->next(clock_.steady_now());
      if (next && *next > clock_.steady_now()) clock_.sleep_for(*next - clock_.steady_now());
    }
  }
  // Begins it, and carries it out.
  void divide(const NewRepartition& wanted) {
    const auto begun = begin_repartition(cluster_.meta(), "things", wanted);
    ASSERT_TRUE(begun.ok()) << begun.error().message;
    Mover mover("things", cluster_.meta(), cluster_.connect(), mover_options());
    step_to(mover, RepartitionPhase::kDone);
  }
  void expect_all(Router& router) {
    const auto found = router.search({.text = index::TextLeg{.query = "tide"}, .k = 1'000});
    ASSERT_TRUE(found.ok()) << found.error().message;
    EXPECT_EQ(found->found.hits.size(), kThings - 1);
    for (std::size_t i = 0; i < kThings; ++i) {
      const auto entity = router.get(std::vector{id(i)});
      ASSERT_TRUE(entity.ok()) << entity.error().message;
      EXPECT_EQ((*entity)[0].has_value(), i != 3) << i;
      const auto in = router.traverse({.from = {id(i + 1)},
                                       .direction = index::Direction::kIn,
                                       .missing = index::Missing::kVisit});
      ASSERT_TRUE(in.ok()) << in.error().message;
      EXPECT_EQ(in->edges.size(), i == 3 ? 0U : 1U) << i;
    }
  }
  index::PartitionSizes sizes() {
    index::PartitionSizes all;
    for (std::size_t shard = 0; shard < 2; ++shard) {
      const auto some = index::count_partitions(cluster_.host(shard).shard().view().truth());
      all.insert(some->begin(), some->end());
    }
    return all;
  }

  ManualClock clock_;
  LocalCluster cluster_;
};

PartitionId largest_of(const index::PartitionSizes& sizes) {
  return std::ranges::max_element(sizes, {}, [](const auto& one) { return one.second; })->first;
}

TEST_F(RepartitionTest, ASplitDividesAPartitionAndItsHalvesMoveApart) {
  const PartitionId large = largest_of(sizes());
  const std::uint64_t before = sizes()[large];
  const std::uint32_t shard = cluster_.router().map().shard_of(large);
  const auto old_router = cluster_.open_router();
  expect_all(*old_router);  // knows all places
  divide({.partitions = {large}, .added = 1});
  const auto now = cluster_.open_router();
  const ShardMap map = now->map();
  ASSERT_EQ(map.partitions.size(), 5U);
  EXPECT_EQ(map.homes, 4U);
  EXPECT_FALSE(map.dividing);
  EXPECT_EQ(map.shard_of(PartitionId{4}), shard);
  index::PartitionSizes after = sizes();
  EXPECT_EQ(after[large] + after[PartitionId{4}], before);
  EXPECT_GT(after[large], before / 4);
  EXPECT_GT(after[PartitionId{4}], before / 4);
  expect_all(*old_router);
  expect_all(*now);

  ASSERT_TRUE(
      begin_move(cluster_.meta(), "things", {.partition = PartitionId{4}, .target = 1 - shard})
          .ok());
  Mover mover("things", cluster_.meta(), cluster_.connect(), mover_options());
  const auto move = [&] { return read_moves(cluster_.meta(), "things")->at(0); };
  for (int steps = 0; move().phase != MovePhase::kDone; ++steps) {
    ASSERT_LT(steps, 500) << name_of(move().phase) << " " << move().reason;
    const auto outcome = mover.step();
    const auto next = outcome->next(clock_.steady_now());
    if (next && *next > clock_.steady_now()) clock_.sleep_for(*next - clock_.steady_now());
  }
  expect_all(*old_router);
  // Written by a router with old places, everything is where it was.
  for (std::size_t i = 0; i < kThings; ++i) {
    if (i != 3) put(i, "tide again");
  }
  expect_all(*old_router);
  EXPECT_EQ(sizes()[PartitionId{4}], after[PartitionId{4}]);
}

TEST_F(RepartitionTest, AMergedPartitionIsEmptyAndItsNumberIsUsedAgain) {
  ShardMap map = cluster_.router().map();
  Partitions both = map.partitions_of(0);
  if (both.size() < 2) both = map.partitions_of(1);
  while (both.size() > 2) both.erase(std::prev(both.end()));
  divide({.partitions = both, .retired = {*both.begin()}});
  EXPECT_EQ(sizes()[*both.begin()], 0U);
  expect_all(*cluster_.open_router());
  divide({.partitions = {*both.rbegin()}, .added = 1});
  EXPECT_EQ(cluster_.open_router()->map().partitions.size(), 4U);
  EXPECT_GT(sizes()[*both.begin()], 0U);
  expect_all(*cluster_.open_router());
}

// Between the two swaps of the map, routers with any place find and write everything.
TEST_F(RepartitionTest, EverythingIsServedInEveryPhase) {
  const auto old_router = cluster_.open_router();
  expect_all(*old_router);
  const PartitionId large = largest_of(sizes());
  ASSERT_TRUE(
      begin_repartition(cluster_.meta(), "things", {.partitions = {large}, .added = 2}).ok());
  Mover mover("things", cluster_.meta(), cluster_.connect(), mover_options());
  std::size_t steps = 0;
  while (last().phase != RepartitionPhase::kDone) {
    ASSERT_LT(++steps, 500U);
    ASSERT_TRUE(mover.step().ok());
    clock_.sleep_for(std::chrono::seconds{1});
    const std::size_t i = steps % kThings;
    if (i != 3) put(i);
    if (steps % 4 == 0) expect_all(*old_router);
    if (steps % 4 == 2) expect_all(*cluster_.open_router());
  }
  EXPECT_GT(steps, 10U);
  expect_all(*old_router);
  for (std::size_t shard = 0; shard < 2; ++shard)
    EXPECT_THAT(cluster_.host(shard).shard().check()->faults, ElementsAre());
}

TEST_F(RepartitionTest, MembersDoNotMoveMeanwhile) {
  const PartitionId large = largest_of(sizes());
  const std::uint32_t shard = cluster_.router().map().shard_of(large);
  const NewMove away{.partition = large, .target = 1 - shard};
  ASSERT_TRUE(begin_move(cluster_.meta(), "things", away).ok());
  const auto refused =
      begin_repartition(cluster_.meta(), "things", {.partitions = {large}, .added = 1});
  EXPECT_EQ(refused.error().code, Code::kFailedPrecondition);
  EXPECT_THAT(refused.error().message, HasSubstr("is being moved"));
  ASSERT_TRUE(abort_move(cluster_.meta(), "things", large, "as asked").ok());
  Mover mover("things", cluster_.meta(), cluster_.connect(), mover_options());
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(mover.step().ok());
  ASSERT_TRUE(
      begin_repartition(cluster_.meta(), "things", {.partitions = {large}, .added = 1}).ok());
  step_to(mover, RepartitionPhase::kDividing);
  const auto moves = begin_move(cluster_.meta(), "things", away);
  EXPECT_EQ(moves.error().code, Code::kFailedPrecondition);
  EXPECT_THAT(moves.error().message, HasSubstr("is being divided"));
  EXPECT_EQ(begin_repartition(cluster_.meta(), "things", {.partitions = {large}, .added = 1})
                .error()
                .code,
            Code::kFailedPrecondition);
}

TEST_F(RepartitionTest, ItIsUndoneUntilTheMapHasIt) {
  const ShardMap before = cluster_.router().map();
  ASSERT_TRUE(
      begin_repartition(cluster_.meta(), "things", {.partitions = {PartitionId{0}}, .added = 1})
          .ok());
  Mover mover("things", cluster_.meta(), cluster_.connect(), mover_options());
  step_to(mover, RepartitionPhase::kOpening);
  ASSERT_TRUE(abort_repartition(cluster_.meta(), "things", "as asked").ok());
  step_to(mover, RepartitionPhase::kFailed);
  EXPECT_EQ(last().reason, "as asked");
  const ShardMap after = cluster_.open_router()->map();
  EXPECT_EQ(after.partitions.size(), before.partitions.size());
  EXPECT_EQ(after.centroids, before.centroids);
  EXPECT_FALSE(after.dividing);
  expect_all(cluster_.router());
  divide({.partitions = {PartitionId{0}}, .added = 1});
  EXPECT_EQ(abort_repartition(cluster_.meta(), "things", "too late").error().code,
            Code::kFailedPrecondition);
  expect_all(cluster_.router());
}

// Four shards with vectors in clumps, most of which the sample does not have.
class NearnessTest : public testing::Test {
 protected:
  static constexpr std::size_t kDimension = 8;
  static constexpr std::size_t kOld = 600;
  static constexpr std::size_t kThings = 2'400;
  static constexpr std::size_t kQuestions = 150;

  NearnessTest()
      : cluster_({.shards = 4, .partitions = 16, .shard = options(), .sample = sample()}) {
    std::vector<index::Mutation> puts;
    for (std::size_t i = 0; i < kThings; ++i) {
      index::PutEntity put;
      put.entity = {.id = id(i), .key = std::to_string(i), .source = "test"};
      put.entity.vectors = {{"main", vector_of(i)}};
      puts.emplace_back(std::move(put));
    }
    const auto written = cluster_.router().write(puts);
    KIN_CHECK(written.ok() && written->problems.empty(), "the vectors are written");
  }

  index::ShardOptions options() {
    index::ShardOptions options;
    options.clock = &clock_;
    options.spaces = {
        {.name = "main", .space = {.dimension = kDimension, .distance = index::Distance::kL2}}};
    return options;
  }
  // The first are in eight clumps, later ones in 24 others.
  static std::vector<float> vector_of(std::size_t i) {
    Random place(i < kOld || i >= kThings * 2 ? i % 8 : 100 + i % 24);
    Random random(i);
    std::vector<float> vector;
    for (std::size_t d = 0; d < kDimension; ++d)
      vector.push_back(static_cast<float>(place.unit() * 6 + random.unit()));
    return vector;
  }
  static std::vector<std::vector<float>> sample() {
    std::vector<std::vector<float>> vectors;
    for (std::size_t i = 0; i < 400; ++i) vectors.push_back(vector_of(kThings * 2 + i));
    return vectors;
  }
  static DocId id(std::size_t i) { return doc_id_of("test", std::to_string(i)); }

  struct Found {
    double recall = 0;
    double asked = 0;  // share of the shards
  };
  // Questions that are not in the index, in all of its clumps.
  Found search() {
    const auto router = cluster_.open_router();
    Found found;
    for (std::size_t i = 0; i < kQuestions; ++i) {
      const std::vector<float> question =
          vector_of(i % 4 == 0 ? kThings * 2 + 1'000 + i : kThings + i);
      std::vector<std::pair<float, std::size_t>> nearest;
      for (std::size_t n = 0; n < kThings; ++n)
        nearest.emplace_back(index::exact_distance(index::Distance::kL2, question, vector_of(n)),
                             n);
      std::ranges::partial_sort(nearest, nearest.begin() + 10);
      const auto hits =
          *router->search({.vector = index::VectorLeg{.vector = question, .recall = 0.95}});
      found.asked += static_cast<double>(hits.asked) / (4 * kQuestions);
      for (std::size_t n = 0; n < 10; ++n) {
        const bool hit = std::ranges::any_of(hits.found.hits, [&](const index::ShardHit& one) {
          return one.doc.id == id(nearest[n].second);
        });
        found.recall += hit ? 1.0 / (10 * kQuestions) : 0;
      }
    }
    return found;
  }
  void divide(const NewRepartition& wanted) {
    const auto begun = begin_repartition(cluster_.meta(), "things", wanted);
    ASSERT_TRUE(begun.ok()) << begun.error().message;
    Mover mover("things", cluster_.meta(), cluster_.connect(), {.clock = &clock_});
    const auto phase = [&] {
      return (*read_repartition(cluster_.meta(), "things"))->repartition.phase;
    };
    for (int steps = 0; phase() != RepartitionPhase::kDone; ++steps) {
      ASSERT_LT(steps, 500) << name_of(phase());
      ASSERT_TRUE(mover.step().ok());
      clock_.sleep_for(std::chrono::seconds{1});
    }
  }

  ManualClock clock_;
  LocalCluster cluster_;
};

TEST_F(NearnessTest, ShardsArePassedOverAgainWhenCentroidsWereLearntAgain) {
  const Found grown = search();
  EXPECT_GT(grown.recall, 0.94);
  EXPECT_GT(grown.asked, 0.7) << "most questions are unlike the sample";
  for (const std::uint32_t shard : {0U, 1U, 2U, 3U}) {
    divide({.partitions = cluster_.open_router()->map().partitions_of(shard), .added = 2});
    const Found now = search();
    EXPECT_GT(now.recall, 0.94) << "after shard " << shard;
    EXPECT_LT(now.asked, 0.7) << "after shard " << shard;
  }
}

TEST_F(RepartitionTest, WhatMakesNoSenseIsRefused) {
  const ShardMap map = cluster_.router().map();
  const auto code = [&](const NewRepartition& wanted) {
    return begin_repartition(cluster_.meta(), "things", wanted).error().code;
  };
  EXPECT_EQ(code({}), Code::kInvalidArgument);
  EXPECT_EQ(code({.partitions = {PartitionId{9}}}), Code::kInvalidArgument);
  EXPECT_EQ(code({.partitions = {*map.partitions_of(0).begin(), *map.partitions_of(1).begin()}}),
            Code::kInvalidArgument);
  EXPECT_EQ(code({.partitions = {PartitionId{0}}, .retired = {PartitionId{0}}}),
            Code::kInvalidArgument);
  EXPECT_EQ(code({.partitions = {PartitionId{0}}, .retired = {PartitionId{1}}}),
            Code::kInvalidArgument);
  EXPECT_EQ(
      begin_repartition(cluster_.meta(), "others", {.partitions = {PartitionId{0}}}).error().code,
      Code::kNotFound);
}

}  // namespace
}  // namespace kin::router
