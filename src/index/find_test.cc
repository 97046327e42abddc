#include "index/find.h"

#include <gmock/gmock.h>

#include <set>

#include "base/random.h"
#include "index/testing/shard_fixture.h"

namespace kin::index {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A collection on one shard, and the same collection spread over three.
class SpreadCollection : public testing::Test {
 protected:
  static constexpr std::size_t kShards = 3;
  static constexpr std::size_t kMany = 3'000;  // enough for vectors to get cells

  static void SetUpTestSuite() {
    data_ = std::make_unique<Data>();
    Random random(11);
    std::vector<std::vector<Mutation>> batches(kShards + 1);
    for (std::size_t i = 0; i < kMany; ++i) {
      // Semantic sharding: a shard holds similar documents, so its own statistics mislead.
      const std::size_t shard = i % kShards;
      Entity entity = made(i, shard, random);
      batches[shard].push_back(PutEntity{.entity = entity});
      batches[kShards].push_back(PutEntity{.entity = std::move(entity)});
    }
    for (std::size_t s = 0; s <= kShards; ++s) {
      ShardOptions options;
      options.spaces = {{.name = "main", .space = {.dimension = 16, .storage = RawStorage::kF32}}};
      auto shard = Shard::open(data_->folder.path() / std::to_string(s), options);
      KIN_CHECK(shard.ok() && (*shard)->apply(batches[s]).ok(), "a shard is filled");
      data_->shards.push_back(std::move(*shard));
    }
    // One shard has its vectors in cells and others have them pending: an exact search must not
    // show a difference.
    settle_shard(*data_->shards[kShards]);
  }
  static void TearDownTestSuite() { data_.reset(); }

  static void settle_shard(Shard& shard) {
    while (shard.step().value().did_work()) continue;
  }

  static Entity made(std::size_t number, std::size_t topic, Random& random) {
    static const std::vector<std::string> kWords{"harbour", "harvest", "harbinger", "lantern",
                                                 "lander",  "orchard", "river",     "stone"};
    Entity entity;
    entity.key = "e" + std::to_string(number);
    // Ids ascend like numbers, so that documents with equal scores come in the same order however
    // many shards there are.
    for (std::size_t i = 0; i < 4; ++i)
      entity.id.bytes[i] = static_cast<std::uint8_t>(number >> (24 - 8 * i));
    entity.title = "number " + std::to_string(number);
    const std::size_t length = 5 + random.below(40);
    for (std::size_t w = 0; w < length; ++w) {
      const bool own = random.below(3) != 0;
      entity.text += (own ? kWords[(topic * 3 + random.below(3)) % kWords.size()]
                          : kWords[random.below(kWords.size())]) +
                     " filler" + std::to_string(random.below(500)) + " ";
    }
    entity.tags = {random.below(2) == 0 ? "even" : "odd"};
    std::vector<float> vector(16);
    for (float& value : vector) value = static_cast<float>(random.unit() - 0.5);
    vector[topic] += 1;
    entity.vectors = {{"main", std::move(vector)}};
    return entity;
  }

  static VectorLeg near(std::uint64_t seed) {
    Random random(seed);
    VectorLeg leg{.exact = true};
    for (int i = 0; i < 16; ++i) leg.vector.push_back(static_cast<float>(random.unit() - 0.5));
    return leg;
  }

  static std::vector<ShardView> views() {
    std::vector<ShardView> all;
    for (std::size_t s = 0; s < kShards; ++s) all.push_back(data_->shards[s]->view());
    return all;
  }
  static ShardView whole() { return data_->shards[kShards]->view(); }

  // The same calls that a router makes.
  static ShardHits ask_all(ShardQuery query) {
    const std::vector<ShardView> all = views();
    TextStatistics statistics;
    for (const ShardView& view : all) statistics.add(*read_statistics(view, query));
    query.statistics = &statistics;
    std::vector<Findings> found;
    for (const ShardView& view : all) found.push_back(*find(view, query));
    ShardHits hits = fuse(found, query);
    for (std::size_t s = 0; s < all.size(); ++s)
      KIN_CHECK(add_joined(all[s], query, s, hits).ok(), "joined hits are counted");
    keep_page(query, hits);
    return hits;
  }

  static void expect_same(const ShardQuery& query) {
    const ShardHits one = *search(whole(), query);
    const ShardHits many = ask_all(query);
    ASSERT_EQ(many.hits.size(), one.hits.size());
    for (std::size_t i = 0; i < one.hits.size(); ++i) {
      EXPECT_EQ(many.hits[i].doc, one.hits[i].doc) << i;
      EXPECT_EQ(many.hits[i].score, one.hits[i].score) << i;
      ASSERT_EQ(many.hits[i].legs.size(), one.hits[i].legs.size()) << i;
      for (std::size_t leg = 0; leg < one.hits[i].legs.size(); ++leg) {
        EXPECT_EQ(many.hits[i].legs[leg].score, one.hits[i].legs[leg].score) << i;
        EXPECT_EQ(many.hits[i].legs[leg].rank, one.hits[i].legs[leg].rank) << i;
      }
    }
    EXPECT_EQ(many.count, one.count);
    ASSERT_EQ(many.facets.size(), one.facets.size());
    for (std::size_t f = 0; f < one.facets.size(); ++f) {
      ASSERT_EQ(many.facets[f].values.size(), one.facets[f].values.size());
      for (std::size_t v = 0; v < one.facets[f].values.size(); ++v) {
        EXPECT_EQ(many.facets[f].values[v].value, one.facets[f].values[v].value);
        EXPECT_EQ(many.facets[f].values[v].count, one.facets[f].values[v].count);
      }
    }
  }

  struct Data {
    TemporaryFolder folder = std::move(*TemporaryFolder::create());
    std::vector<std::unique_ptr<Shard>> shards;
  };
  static inline std::unique_ptr<Data> data_;
};

TEST_F(SpreadCollection, WordsFindTheSameOnThreeShardsAsOnOne) {
  for (const char* words : {"harbour", "harbour lantern river", "+stone -river orchard", "har*",
                            "lantern~2 stone", "\"river stone\"", "filler12 filler99 harvest"}) {
    SCOPED_TRACE(words);
    expect_same(
        {.text = TextLeg{.query = words}, .count = true, .facets = {"tag", "type", "validity"}});
    expect_same({.text = TextLeg{.query = words, .fuzzy = 1}, .k = 25, .offset = 15});
  }
}

TEST_F(SpreadCollection, VectorsFindTheSameOnThreeShardsAsOnOne) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE(seed);
    expect_same({.vector = near(seed)});
    expect_same({.vector = near(seed), .k = 30, .offset = 10});
  }
}

TEST_F(SpreadCollection, BothTogetherFindTheSameOnThreeShardsAsOnOne) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    for (const Fusion how : {Fusion::kAlpha, Fusion::kRrf}) {
      SCOPED_TRACE(seed);
      ShardQuery query{.text = TextLeg{.query = "lantern orchard filler" + std::to_string(seed)},
                       .vector = near(seed),
                       .fusion = {.how = how, .alpha = 0.4},
                       .count = true,
                       .facets = {"tag"}};
      expect_same(query);
      query.scope.filters = {{"tag", "odd"}};
      query.fusion.depth = 20;
      expect_same(query);
    }
  }
}

TEST_F(SpreadCollection, TheirOwnStatisticsWouldMislead) {
  const ShardQuery query{.text = TextLeg{.query = "harbour lantern river"}};
  std::vector<Findings> found;
  for (const ShardView& view : views()) found.push_back(*find(view, query));
  const ShardHits own = fuse(found, query);
  EXPECT_NE(own.hits[0].score, ask_all(query).hits[0].score);
}

TEST_F(SpreadCollection, AHitNamesTheShardThatHoldsIt) {
  for (const ShardHit& hit : ask_all({.text = TextLeg{.query = "stone river"}, .k = 50}).hits)
    EXPECT_TRUE((*views()[hit.shard].truth().get(hit.doc.id)).has_value());
}

TEST_F(SpreadCollection, ADocumentThatTwoShardsHoldIsFoundOnce) {
  const ShardQuery query{.text = TextLeg{.query = "stone river"}, .vector = near(3), .k = 50};
  const std::vector<Findings> twice{*find(whole(), query), *find(whole(), query)};
  const ShardHits hits = fuse(twice, query);
  const ShardHits once = fuse(std::span(twice).first(1), query);
  ASSERT_EQ(hits.hits.size(), once.hits.size());
  for (std::size_t i = 0; i < hits.hits.size(); ++i) {
    EXPECT_EQ(hits.hits[i].doc, once.hits[i].doc);
    EXPECT_EQ(hits.hits[i].score, once.hits[i].score);
    EXPECT_EQ(hits.hits[i].shard, 0U);
  }
}

TEST_F(SpreadCollection, ListsAreShardByShardWithoutGapsOrRepeats) {
  std::set<DocIdentity> seen;
  ShardQuery query{.k = 700};
  for (;; query.offset += query.k) {
    const ShardHits page = ask_all(query);
    for (const ShardHit& hit : page.hits) EXPECT_TRUE(seen.insert(hit.doc).second);
    if (page.hits.size() < query.k) break;
  }
  EXPECT_EQ(seen.size(), kMany);
}

TEST_F(SpreadCollection, NothingWasAskedNothingIsFound) {
  EXPECT_THAT(fuse({}, {.text = TextLeg{.query = "stone"}}).hits, IsEmpty());
}

class OwnedPartitions : public ShardFixture {
 protected:
  OwnedPartitions() {
    open(given_options());
    const auto add = [&](const std::string& key, std::vector<float> vector,
                         std::uint32_t partition) {
      apply({PutEntity{.entity = with_vector(made(key, "tide of " + key), std::move(vector)),
                       .partition = PartitionId{partition}}});
    };
    add("mine", {1, 0, 0, 0}, 1);
    add("theirs", {0.9F, 0, 0, 0}, 2);
    add("other", {0.8F, 0, 0, 0}, 3);
    add("far", {0, 0, 0, 1}, 1);
    Edge summary = edge("theirs", "cites", "mine");
    summary.summary = "tide cited";
    apply({PutEdge{.edge = edge("mine", "cites", "theirs")},
           PutEdge{.edge = edge("theirs", "cites", "far")}, PutEdge{.edge = summary},
           AddFragment{.id = id("theirs"), .fragment = {.time = 1, .text = "tide said"}},
           AddEdgeFragment{.from = id("theirs"),
                           .name = "cites",
                           .to = id("mine"),
                           .fragment = {.time = 2, .text = "tide noted"}}});
  }
  std::vector<std::string> keys(ShardQuery query, std::set<PartitionId> owned) {
    query.scope.partitions = std::move(owned);
    const ShardView view = shard().view();
    std::vector<std::string> all;
    const ShardHits found = *search(view, query);
    for (const ShardHit& hit : found.hits) {
      const auto entity = *view.truth().get(hit.doc.id);
      all.push_back(hit.doc.kind == DocKind::kEntity ? entity->entity.key
                                                     : "about " + entity->entity.key);
    }
    std::ranges::sort(all);
    return all;
  }
};

TEST_F(OwnedPartitions, OthersAreInvisibleToEveryLeg) {
  const ShardQuery words{.text = TextLeg{.query = "tide"}};
  const PartitionId one{1}, two{2}, three{3};
  EXPECT_THAT(keys(words, {one, two, three}),
              ElementsAre("about theirs", "about theirs", "about theirs", "far", "mine", "other",
                          "theirs"));
  EXPECT_THAT(keys(words, {one}), ElementsAre("far", "mine"));
  EXPECT_THAT(keys(words, {two}),
              ElementsAre("about theirs", "about theirs", "about theirs", "theirs"));
  EXPECT_THAT(keys(words, {}), IsEmpty());
  EXPECT_THAT(keys({}, {three}), ElementsAre("other"));
  const ShardQuery near{.vector = VectorLeg{.vector = {1, 0, 0, 0}}, .k = 2};
  EXPECT_THAT(keys(near, {one, two, three}), ElementsAre("mine", "theirs"));
  EXPECT_THAT(keys(near, {one, three}), ElementsAre("mine", "other"));
  ShardQuery counted = words;
  counted.count = true;
  counted.scope.partitions = {{one}};
  EXPECT_EQ(search(shard().view(), counted)->count, 2U);
}

TEST_F(OwnedPartitions, LinksAreNotFollowedThroughOthers) {
  const PartitionId one{1}, two{2};
  const ShardQuery reach{.graph = GraphStart{{id("mine")}},
                         .expand = {.hops = 2, .direction = Direction::kOut}};
  EXPECT_THAT(keys(reach, {one, two}), ElementsAre("far", "theirs"));
  EXPECT_THAT(keys(reach, {one}), IsEmpty());
  const ShardQuery expanded{.text = TextLeg{.query = "mine"},
                            .scope = {.kinds = kind_bit(DocKind::kEntity)},
                            .expand = {.hops = 2, .direction = Direction::kOut}};
  EXPECT_THAT(keys(expanded, {one, two}), ElementsAre("far", "mine", "theirs"));
  EXPECT_THAT(keys(expanded, {one}), ElementsAre("mine"));
}

}  // namespace
}  // namespace kin::index
