#include "router/router.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/manual_clock.h"
#include "router/testing/local_cluster.h"

namespace kin::router {
namespace {

using index::Effect;
using testing::IsEmpty;
using testing::SizeIs;

class RouterTest : public testing::Test {
 protected:
  RouterTest() : cluster_(LocalClusterOptions{.shard = options()}) {}

  index::ShardOptions options() {
    index::ShardOptions options;
    options.clock = &clock_;  // pauses and deadlines pass at once
    return options;
  }

  static DocId id(std::size_t key) { return doc_id_of("test", std::to_string(key)); }
  static index::PutEntity put(std::size_t key, const std::string& text = "tide") {
    index::PutEntity put;
    put.entity.id = id(key);
    put.entity.key = std::to_string(key);
    put.entity.text = text;
    return put;
  }
  Written write(const std::vector<index::Mutation>& mutations) {
    auto written = router_->write(mutations);
    KIN_CHECK(written.ok(), written.ok() ? "" : written.error().message.c_str());
    return std::move(*written);
  }
  void fill(std::size_t count) {
    std::vector<index::Mutation> mutations;
    for (std::size_t i = 0; i < count; ++i) mutations.emplace_back(put(i));
    EXPECT_THAT(write(mutations).problems, IsEmpty());
  }

  ManualClock clock_;
  LocalCluster cluster_;
  Router* router_ = &cluster_.router();
};

TEST_F(RouterTest, EntitiesWithoutVectorsAreSpreadByTheirIds) {
  fill(200);
  for (std::size_t shard = 0; shard < 4; ++shard)
    EXPECT_GT(cluster_.host(shard).shard().stats().counters.entities, 20U);
  std::vector<DocId> ids{id(0), id(199), id(1'000)};
  const auto got = router_->get(ids);
  ASSERT_TRUE(got.ok());
  EXPECT_EQ((*got)[1]->entity.key, "199");
  EXPECT_FALSE((*got)[2].has_value());
}

TEST_F(RouterTest, ABatchIsOneCallToEachShardOnceItsPlacesAreKnown) {
  fill(200);
  for (std::size_t shard = 0; shard < 4; ++shard) cluster_.client(shard).calls = 0;
  fill(200);
  for (std::size_t shard = 0; shard < 4; ++shard) EXPECT_EQ(cluster_.client(shard).calls, 1U);
}

TEST_F(RouterTest, RoutersSeeWhatOthersWrote) {
  fill(20);
  const auto other = cluster_.open_router();
  const std::vector<index::Mutation> change{put(3, "sand"), index::RemoveEntity{.id = id(4)}};
  ASSERT_TRUE(other->write(change).ok());
  const std::vector<DocId> ids{id(3), id(4)};
  const auto got = router_->get(ids);
  EXPECT_EQ((*got)[0]->entity.text, "sand");
  EXPECT_FALSE((*got)[1].has_value());
  const auto found = router_->search({.text = index::TextLeg{.query = "sand"}});
  EXPECT_THAT(found->found.hits, SizeIs(1));
}

TEST_F(RouterTest, WhatDoesNotExistIsAbsent) {
  index::PutEdge link;
  link.edge.id = {.from = id(7), .name = "cites", .to = id(8)};
  const Written written = write({index::RemoveEntity{.id = id(7)}, link,
                                 index::AddFragment{.id = id(7), .fragment = {.text = "said"}}});
  for (const auto& outcome : written.outcomes) EXPECT_EQ(outcome->effect, Effect::kAbsent);
}

TEST_F(RouterTest, AnEntityStaysInItsPartitionWhateverItsVectorBecomes) {
  index::ShardOptions shard = options();
  shard.spaces = {{.name = "main", .space = {.dimension = 2, .distance = index::Distance::kL2}}};
  LocalCluster cluster(
      {.partitions = 4, .shard = shard, .sample = {{0, 0}, {0, 9}, {9, 0}, {9, 9}}});
  index::PutEntity one = put(1);
  one.entity.vectors = {{"main", {0, 8}}};
  const std::vector<DocId> ids{id(1)};
  ASSERT_TRUE(cluster.router().write(std::vector<index::Mutation>{one}).ok());
  const auto before = (*cluster.router().get(ids))[0]->head.partition;
  one.entity.vectors = {{"main", {8, 0}}};
  ASSERT_TRUE(cluster.open_router()->write(std::vector<index::Mutation>{one}).ok());
  EXPECT_EQ((*cluster.router().get(ids))[0]->head.partition, before);
  const auto all = cluster.router().search({.count = true});
  EXPECT_EQ(all->found.count, 1U);
}

// 400 entities in four corners of a square; the corner (9, 9) is the only one with the tag "far".
class CornersTest : public RouterTest {
 protected:
  static std::vector<float> point(std::size_t i) {
    return {static_cast<float>(i % 2) * 9 + static_cast<float>(i % 7) * 0.1F,
            static_cast<float>(i / 2 % 2) * 9 + static_cast<float>(i % 11) * 0.1F};
  }
  LocalClusterOptions corners() {
    LocalClusterOptions made{.shard = options()};
    made.shard.spaces = {
        {.name = "main", .space = {.dimension = 2, .distance = index::Distance::kL2}}};
    for (std::size_t i = 0; i < 400; ++i) made.sample.push_back(point(i));
    return made;
  }
  void SetUp() override {
    std::vector<index::Mutation> mutations;
    for (std::size_t i = 0; i < 400; ++i) {
      index::PutEntity one = put(i);
      one.entity.vectors = {{"main", point(i)}};
      if (i % 4 == 3) one.entity.tags = {"far"};
      mutations.emplace_back(std::move(one));
    }
    ASSERT_TRUE(cluster_.router().write(mutations).ok());
  }
  RoutedHits search(const index::ShardQuery& query) {
    auto found = cluster_.router().search(query, {.show = Show{}});
    KIN_CHECK(found.ok(), found.ok() ? "" : found.error().message.c_str());
    return std::move(*found);
  }

  LocalCluster cluster_{corners()};
  const index::ShardQuery near_{.vector = index::VectorLeg{.vector = {0.2F, 0.3F}}};
};

TEST_F(CornersTest, NearVectorsAreOnFewShards) {
  const RoutedHits found = search(near_);
  EXPECT_THAT(found.found.hits, SizeIs(10));
  EXPECT_LT(found.asked, 3U);
}

TEST_F(CornersTest, FarHitsAreFoundWhereAFilterLeavesNoNearOnes) {
  index::ShardQuery query = near_;
  query.scope.filters = {{.name = "tag", .value = "far"}};
  const RoutedHits found = search(query);
  ASSERT_THAT(found.found.hits, SizeIs(10));
  ASSERT_THAT(found.shown.documents, SizeIs(10));
  for (const auto& shown : found.shown.documents)
    EXPECT_THAT(std::get<index::StoredEntity>(*shown).entity.tags, testing::ElementsAre("far"));
}

TEST_F(CornersTest, AllAreFoundIfSoManyAreAskedFor) {
  index::ShardQuery query = near_;
  query.k = 400;
  query.vector->recall = 0.99;
  const RoutedHits found = search(query);
  EXPECT_EQ(found.asked, 4U);
  EXPECT_GT(found.found.hits.size(), 390U);
}

TEST_F(RouterTest, AMutationThatMakesNoSenseIsRefused) {
  const auto code = [&](const index::Mutation& mutation) {
    return router_->write(std::vector{mutation}).error().code;
  };
  EXPECT_EQ(code(index::PutEntity{}), Code::kInvalidArgument);
  EXPECT_EQ(code(index::AssignPartition{.id = id(1)}), Code::kInvalidArgument);
  EXPECT_EQ(code(index::AssignOwner{}), Code::kInvalidArgument);
}

TEST_F(RouterTest, AShardThatIsDownIsNamedOrFailsTheSearch) {
  fill(100);
  cluster_.client(2).is_down = true;
  const index::ShardQuery query{.text = index::TextLeg{.query = "tide"}, .k = 100, .count = true};
  const auto failed = router_->search(query);
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().code, Code::kUnavailable);
  const auto partial = router_->search(query, {.partial = true});
  ASSERT_TRUE(partial.ok());
  ASSERT_THAT(partial->missing, SizeIs(1));
  EXPECT_EQ(partial->missing[0].address, "2");
  EXPECT_EQ(*partial->found.count, partial->found.hits.size());
  EXPECT_LT(*partial->found.count, 100U);
  const auto health = router_->health();
  EXPECT_TRUE(health[1].ok());
  EXPECT_FALSE(health[2].ok());
}

TEST_F(RouterTest, WritesToOtherShardsSucceedWhileOneIsDown) {
  fill(100);
  cluster_.client(2).is_down = true;
  std::vector<index::Mutation> mutations;
  for (std::size_t i = 0; i < 100; ++i) mutations.emplace_back(put(i, "sand"));
  const Written written = write(mutations);
  ASSERT_THAT(written.problems, SizeIs(1));
  EXPECT_EQ(written.problems[0].shard, 2U);
  std::size_t unknown = 0;
  for (const auto& outcome : written.outcomes) unknown += outcome ? 0 : 1;
  EXPECT_GT(unknown, 0U);
  EXPECT_LT(unknown, 50U);
}

TEST_F(RouterTest, AMapThatChangedIsReadAgain) {
  fill(50);
  // Partition 0 gets a new owner, as a move would do it.
  const auto value = *cluster_.meta().get(map_key("things"));
  ShardMap map = *decode_shard_map(value->bytes);
  map.epoch = 2;
  map.partitions[0] = {.shard = 0, .epoch = 2};
  ASSERT_TRUE((*cluster_.meta().swap(map_key("things"), value->revision, encode(map))).has_value());
  ASSERT_TRUE(call(cluster_.client(0), map.assignment_of(0), {.map_epoch = 2}).ok());
  fill(50);
  EXPECT_EQ(router_->map().epoch, 2U);
  const auto found = router_->search({.count = true});
  EXPECT_EQ(found->found.count, 50U);
}

TEST_F(RouterTest, AnIndexIsCreatedOnce) {
  NewIndex again{.map = spread_partitions("things", {"0"}, 4)};
  const RouterOptions how{.clock = &clock_};
  EXPECT_EQ(create_index(cluster_.meta(), cluster_.connect(), again, how).error().code,
            Code::kFailedPrecondition);
  EXPECT_EQ(Router::open("nothing", cluster_.meta(), cluster_.connect(), how).error().code,
            Code::kNotFound);
}

TEST_F(RouterTest, ShardsThatWereNotToldAreToldByTheFirstRouter) {
  NewIndex other{.map = spread_partitions("other", {"0", "1"}, 4)};
  other.map.epoch = 7;
  for (auto& owner : other.map.partitions) owner.epoch = 7;
  cluster_.client(0).is_down = true;
  cluster_.client(1).is_down = true;
  const RouterOptions how{.clock = &clock_};
  ASSERT_TRUE(create_index(cluster_.meta(), cluster_.connect(), other, how).ok());
  cluster_.client(0).is_down = false;
  cluster_.client(1).is_down = false;
  const auto router = std::move(*Router::open("other", cluster_.meta(), cluster_.connect(), how));
  const auto written = router->write(std::vector<index::Mutation>{put(1)});
  ASSERT_TRUE(written.ok());
  EXPECT_EQ(written->outcomes[0]->effect, Effect::kDone);
}

TEST_F(RouterTest, HitsAreShownByTheShardsThatHoldThem) {
  fill(30);
  const index::TextLeg leg{.query = "tide"};
  for (const std::size_t offset : {0, 4}) {
    const auto found =
        router_->search({.text = leg, .k = 20, .offset = offset}, {.show = Show{.text = leg}});
    ASSERT_TRUE(found.ok());
    const auto& hits = found->found.hits;
    const auto later = router_->present(hits, {.text = leg});
    ASSERT_TRUE(later.ok());
    for (const Presented* shown : {&found->shown, &*later}) {
      ASSERT_THAT(shown->documents, SizeIs(20));
      for (std::size_t i = 0; i < 20; ++i) {
        EXPECT_EQ(std::get<index::StoredEntity>(*shown->documents[i]).entity.id, hits[i].doc.id);
        EXPECT_THAT(shown->snippets[i][0].marks, SizeIs(1));
      }
    }
  }
}

TEST_F(RouterTest, SearchesForKnownWordsCostOneRoundOfCalls) {
  fill(30);
  const auto calls = [&] {
    std::size_t all = 0;
    for (std::size_t shard = 0; shard < 4; ++shard) all += cluster_.client(shard).calls;
    return all;
  };
  const auto cost = [&](const std::string& words) {
    const std::size_t before = calls();
    const auto found = router_->search({.text = index::TextLeg{.query = words}, .k = 2});
    EXPECT_TRUE(found.ok() && found->found.hits.size() == 2);
    return calls() - before;
  };
  EXPECT_EQ(cost("tide"), 8U);  // statistics first
  EXPECT_EQ(cost("tide"), 4U);
  EXPECT_EQ(cost("+tide tide"), 4U);
  EXPECT_EQ(cost("ti*"), 8U);  // only shards know which words these are
}

TEST_F(RouterTest, RememberedStatisticsAreNotUsedAfterAWrite) {
  fill(30);
  const auto other = cluster_.open_router();
  const index::ShardQuery query{.text = index::TextLeg{.query = "tide"}, .k = 100, .count = true};
  for (std::size_t i = 30; i < 40; ++i) {
    const auto before = router_->search(query);
    ASSERT_TRUE(before.ok());
    EXPECT_EQ(before->found.count, i);
    ASSERT_TRUE(other->write(std::vector<index::Mutation>{put(i)}).ok());
    const auto remembered = router_->search(query);
    const auto fresh = cluster_.open_router()->search(query);
    ASSERT_TRUE(remembered.ok() && fresh.ok());
    ASSERT_EQ(remembered->found.hits.size(), i + 1);
    for (std::size_t h = 0; h <= i; ++h)
      EXPECT_EQ(remembered->found.hits[h].score, fresh->found.hits[h].score);
  }
}

TEST_F(RouterTest, LinksAndWordsAreNotSearchedAtOnce) {
  EXPECT_EQ(router_
                ->search({.text = index::TextLeg{.query = "tide"},
                          .graph = index::GraphStart{.from = {DocId{}}}})
                .error()
                .code,
            Code::kInvalidArgument);
}

}  // namespace
}  // namespace kin::router
