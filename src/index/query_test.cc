#include "index/query.h"

#include <gmock/gmock.h>

#include "index/testing/shard_query_fixture.h"
#include "index/text_leg.h"

namespace kin::index {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Keys = std::vector<std::string>;

class ShardQueryTest : public ShardQueryFixture {
 protected:
  ShardQueryTest() {
    Entity tides = said("tides", "the moon pulls the sea");
    tides.tags = {"Sea", "physics"};
    tides.attributes = {{"author", std::string("Newton")}};
    tides.vectors = {{"main", {1, 0}}};
    put(tides);
    Entity boats = said("boats", "boats sail the sea");
    boats.tags = {"sea"};
    boats.attributes = {{"author", std::string("Cook")}};
    boats.vectors = {{"main", {0.8F, 0.6F}}};
    boats.valid = {.from = 100, .until = 200};
    put(boats);
    Entity hills = said("hills", "hills are far from water");
    hills.tags = {"land"};
    hills.source = "other";
    hills.vectors = {{"main", {0, 1}}};
    put(hills);
    put(said("moon", "moon moon moon"));
  }
};

TEST_F(ShardQueryTest, WordsAloneFindWhatHasThem) {
  const ShardHits hits = found({.text = TextLeg{.query = "sea"}});
  EXPECT_THAT(sorted_keys(hits), ElementsAre("boats", "tides"));
  ASSERT_EQ(hits.hits[0].legs.size(), 1U);
  EXPECT_EQ(hits.hits[0].legs[0].leg, LegKind::kText);
  EXPECT_EQ(hits.hits[0].legs[0].rank, 1U);
  EXPECT_EQ(hits.hits[0].legs[0].share, hits.hits[0].score);
  EXPECT_EQ(hits.hits[0].doc.kind, DocKind::kEntity);
}

TEST_F(ShardQueryTest, LanguageIsReadUnlessWordsArePlain) {
  EXPECT_THAT(keys(found({.text = TextLeg{.query = "sea AND moon"}})), ElementsAre("tides"));
  const TextLeg plain{.query = "sea AND (moon", .syntax = TextLeg::Syntax::kPlain};
  EXPECT_THAT(sorted_keys(found({.text = plain})), ElementsAre("boats", "moon", "tides"));
  const auto wrong = search(shard(), {.text = TextLeg{.query = "sea AND (moon"}});
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().code, Code::kInvalidArgument);
  EXPECT_THAT(wrong.error().message, HasSubstr("^"));
}

TEST_F(ShardQueryTest, GivenVectorsFindTheNearest) {
  const ShardHits hits = found({.vector = VectorLeg{.space = "main", .vector = {2, 0}}, .k = 2});
  EXPECT_THAT(keys(hits), ElementsAre("tides", "boats"));
  EXPECT_NEAR(hits.hits[0].score, 1, 1e-6);
  EXPECT_NEAR(hits.hits[1].score, 0.8, 1e-6);
  EXPECT_EQ(hits.hits[1].legs[0].leg, LegKind::kVector);
  EXPECT_EQ(hits.hits[1].legs[0].rank, 2U);
}

TEST_F(ShardQueryTest, WordsOfALegLeaveOutWhatItExcludes) {
  const TextOptions options = shard_text_options();
  EXPECT_EQ(*extract_words({.query = "zzz OR moon -hills tag:qqq"}, options), "zzz moon");
  const TextLeg plain{.query = "zzz OR -moon", .syntax = TextLeg::Syntax::kPlain};
  EXPECT_EQ(*extract_words(plain, options), "zzz OR -moon");
}

TEST_F(ShardQueryTest, UnknownSpacesAreNotFound) {
  const auto unknown = search(shard(), {.vector = VectorLeg{.space = "nope"}});
  EXPECT_EQ(unknown.error().code, Code::kNotFound);
}

TEST_F(ShardQueryTest, WithoutAVectorTheVectorLegFindsNothing) {
  EXPECT_THAT(keys(found({.vector = VectorLeg{}})), IsEmpty());
  const ShardHits words = found({.text = TextLeg{.query = "sea"}, .vector = VectorLeg{}});
  EXPECT_THAT(sorted_keys(words), ElementsAre("boats", "tides"));
}

TEST_F(ShardQueryTest, BothLegsScoreWhatEitherFound) {
  const ShardHits hits = found({.text = TextLeg{.query = "far"},
                                .vector = VectorLeg{.space = "main", .vector = {1, 0}},
                                .fusion = {.alpha = 0.4, .depth = 2},
                                .k = 2});
  ASSERT_THAT(keys(hits), ElementsAre("hills", "tides"));
  ASSERT_EQ(hits.hits[0].legs.size(), 2U);
  EXPECT_NEAR(hits.hits[0].score, 0.6, 1e-6);
  EXPECT_EQ(hits.hits[0].legs[1].leg, LegKind::kVector);
  EXPECT_EQ(hits.hits[0].legs[1].rank, 0U);
  EXPECT_NEAR(hits.hits[0].legs[1].score, 0, 1e-6);
  EXPECT_NEAR(hits.hits[1].score, 0.4, 1e-6);
  EXPECT_EQ(hits.hits[1].legs.size(), 1U);
}

TEST_F(ShardQueryTest, ReciprocalRanksAreSummed) {
  const ShardHits hits = found({.text = TextLeg{.query = "moon"},
                                .vector = VectorLeg{.space = "main", .vector = {1, 0}},
                                .fusion = {.how = Fusion::kRrf}});
  EXPECT_EQ(key_of(hits.hits[0]), "tides");
  EXPECT_NEAR(hits.hits[0].score, 1 / 62.0 + 1 / 61.0, 1e-12);
}

TEST_F(ShardQueryTest, FiltersOfOneNameAreAlternativesOfSeveralEachHasToHold) {
  const auto keys_with = [&](std::vector<Filter> filters) {
    return sorted_keys(found({.scope = {.filters = std::move(filters)}}));
  };
  EXPECT_THAT(keys_with({{"tag", "SEA"}}), ElementsAre("boats", "tides"));
  EXPECT_THAT(keys_with({{"tag", "physics"}, {"tag", "land"}}), ElementsAre("hills", "tides"));
  EXPECT_THAT(keys_with({{"tag", "sea"}, {"author", "cook"}}), ElementsAre("boats"));
  EXPECT_THAT(keys_with({{"source", "other"}}), ElementsAre("hills"));
  EXPECT_THAT(keys_with({{"type", "entity"}, {"id", "moon"}}), ElementsAre("moon"));
  EXPECT_THAT(keys_with({{"id", to_string(id("moon"))}, {"id", "tides"}}),
              ElementsAre("moon", "tides"));
  EXPECT_THAT(keys_with({{"id", "moon"}, {"source", "other"}}), IsEmpty());
  EXPECT_THAT(keys_with({{"tag", "nothing has it"}}), IsEmpty());
  EXPECT_THAT(keys_with({{"author", "New"}}), IsEmpty());
}

TEST_F(ShardQueryTest, FiltersHoldForEveryLeg) {
  const Scope sea{.filters = {{"tag", "sea"}}};
  EXPECT_THAT(keys(found({.text = TextLeg{.query = "moon"}, .scope = sea})), ElementsAre("tides"));
  EXPECT_THAT(keys(found({.vector = VectorLeg{.space = "main", .vector = {0, 1}}, .scope = sea})),
              ElementsAre("boats", "tides"));
  link("moon", "hills");
  link("moon", "tides");
  EXPECT_THAT(keys(found({.graph = GraphStart{{id("moon")}}, .scope = sea})), ElementsAre("tides"));
  EXPECT_THAT(keys(found({.text = TextLeg{.query = "moon"},
                          .vector = VectorLeg{.space = "main", .vector = {0, 1}},
                          .scope = {.filters = {{"id", "hills"}}}})),
              ElementsAre("hills"));
}

TEST_F(ShardQueryTest, FilterWithoutNameIsRefused) {
  EXPECT_EQ(search(shard(), {.scope = {.filters = {{"", "x"}}}}).error().code,
            Code::kInvalidArgument);
}

TEST_F(ShardQueryTest, AsOfAMomentOnlyWhatIsValidThenIsFound) {
  EXPECT_THAT(keys(found({.text = TextLeg{.query = "sail"}, .scope = {.as_of = 100}})),
              ElementsAre("boats"));
  EXPECT_THAT(keys(found({.text = TextLeg{.query = "sail"}, .scope = {.as_of = 200}})), IsEmpty());
  const VectorLeg close{.space = "main", .vector = {0.8F, 0.6F}};
  EXPECT_THAT(keys(found({.vector = close, .scope = {.as_of = 150}, .k = 1})),
              ElementsAre("boats"));
  EXPECT_THAT(keys(found({.vector = close, .scope = {.as_of = 99}, .k = 1})), ElementsAre("tides"));
}

TEST_F(ShardQueryTest, EdgesThatAreWalkedHoldAtTheMomentToo) {
  Edge old = edge("tides", "cites", "moon");
  old.id.since = 0;
  old.until = 50;
  do_all({PutEdge{.edge = old}});
  const GraphStart tides{{id("tides")}};
  EXPECT_THAT(keys(found({.graph = tides, .scope = {.as_of = 49}})), ElementsAre("moon"));
  EXPECT_THAT(keys(found({.graph = tides, .scope = {.as_of = 50}})), IsEmpty());
}

TEST_F(ShardQueryTest, KindsOfDocumentsCanBeChosen) {
  do_all({AddFragment{.id = id("moon"), .fragment = {.time = 5, .text = "seen over the sea"}}});
  Edge cites = edge("boats", "cites", "tides");
  cites.summary = "how the sea moves boats";
  do_all({PutEdge{.edge = cites}});
  const auto of_kind = [&](DocKind kind) {
    return found({.text = TextLeg{.query = "sea"}, .scope = {.kinds = kind_bit(kind)}});
  };
  EXPECT_THAT(sorted_keys(of_kind(DocKind::kEntity)), ElementsAre("boats", "tides"));
  const ShardHits fragments = of_kind(DocKind::kEntityFragment);
  EXPECT_THAT(keys(fragments), ElementsAre("moon"));
  EXPECT_EQ(fragments.hits[0].doc.kind, DocKind::kEntityFragment);
  const ShardHits edges = of_kind(DocKind::kEdge);
  EXPECT_THAT(keys(edges), ElementsAre("boats"));
  EXPECT_EQ(edges.hits[0].doc.kind, DocKind::kEdge);
  EXPECT_THAT(
      keys(found({.vector = letters("moon"), .scope = {.kinds = kind_bit(DocKind::kEdge)}})),
      IsEmpty());
}

TEST_F(ShardQueryTest, FuzzyFindsMisspeltWordsAfterTheRightOnes) {
  put(said("typo", "the mooon pulls the sea"));
  EXPECT_THAT(keys(found({.text = TextLeg{.query = "mooon"}})), ElementsAre("typo"));
  const Keys fuzzy = keys(found({.text = TextLeg{.query = "mooon", .fuzzy = 1}}));
  ASSERT_EQ(fuzzy.size(), 3U);
  EXPECT_EQ(fuzzy[0], "typo");
  const Keys right = keys(found({.text = TextLeg{.query = "moon AND pulls", .fuzzy = 1}}));
  EXPECT_THAT(right, ElementsAre("tides", "typo"));
  EXPECT_THAT(keys(found({.text = TextLeg{.query = "bots AND sail", .fuzzy = 1}})),
              ElementsAre("boats"));
  EXPECT_THAT(keys(found({.text = TextLeg{.query = "sea -moot", .fuzzy = 1}})).size(), 3U);
  EXPECT_THAT(keys(found({.text = TextLeg{.query = "ar", .fuzzy = 2}})), IsEmpty());
  EXPECT_FALSE(search(shard(), {.text = TextLeg{.query = "a", .fuzzy = 3}}).ok());
}

TEST_F(ShardQueryTest, CountsAndFacetsAreOfAllThatMatches) {
  const ShardHits sea = found({.text = TextLeg{.query = "sea"},
                               .k = 1,
                               .count = true,
                               .facets = {"tag", "validity"},
                               .validity_at = 300});
  EXPECT_EQ(sea.count, 2U);
  EXPECT_EQ(sea.hits.size(), 1U);
  ASSERT_EQ(sea.facets.size(), 2U);
  EXPECT_EQ(sea.facets[1].values[1].count, 1U);
  const ShardHits all = found(
      {.scope = {.filters = {{"source", "test"}}}, .k = 0, .count = true, .facets = {"source"}});
  EXPECT_EQ(all.count, 3U);
  ASSERT_EQ(all.facets[0].values.size(), 1U);
  EXPECT_EQ(all.facets[0].values[0].count, 3U);
  const ShardHits near = found({.vector = letters("moon"), .facets = {"source"}});
  EXPECT_EQ(near.facets[0].values.size(), 2U);
  EXPECT_FALSE(search(shard(), {.vector = letters("moon"), .count = true}).ok());
  EXPECT_FALSE(search(shard(), {.facets = {"nonsense"}}).ok());
}

TEST_F(ShardQueryTest, CountsWhatNearnessAndLinksBringInOnce) {
  const auto total = [](const FacetCounts& facet) {
    std::uint64_t sum = 0;
    for (const FacetCount& value : facet.values) sum += value.count;
    return sum;
  };
  for (const Fusion how : {Fusion::kAlpha, Fusion::kRrf}) {
    const auto near = [&](std::vector<float> vector) {
      return found({.text = TextLeg{.query = "sea"},
                    .vector = VectorLeg{.space = "main", .vector = std::move(vector)},
                    .fusion = {.how = how, .depth = 1},
                    .k = 1,
                    .count = true,
                    .facets = {"type", "tag", "validity"},
                    .validity_at = 300});
    };
    const ShardHits hills = near({0, 1});
    EXPECT_EQ(hills.count, 3U);
    EXPECT_EQ(hills.hits.size(), 1U);
    EXPECT_EQ(total(hills.facets[0]), 3U);
    EXPECT_EQ(total(hills.facets[1]), 4U);
    ASSERT_EQ(hills.facets[0].values.size(), 1U);
    // One of each: in the order of their values, wherever they come from.
    Keys tags;
    for (const FacetCount& value : hills.facets[1].values) tags.push_back(value.value);
    EXPECT_THAT(tags, ElementsAre("land", "physics", "Sea", "sea"));
    EXPECT_EQ(total(hills.facets[2]), 3U);
    const ShardHits tides = near({1, 0});
    EXPECT_EQ(tides.count, 2U);
    EXPECT_EQ(total(tides.facets[0]), 2U);
  }
  link("tides", "hills");
  const ShardHits joined = found({.text = TextLeg{.query = "sea"},
                                  .scope = {.kinds = kind_bit(DocKind::kEntity)},
                                  .expand = {.hops = 1},
                                  .k = 1,
                                  .count = true});
  EXPECT_EQ(joined.count, 3U);
  EXPECT_EQ(joined.hits.size(), 1U);
}

TEST_F(ShardQueryTest, GraphFindsWhatIsWithinReach) {
  link("tides", "boats");
  link("boats", "hills");
  link("hills", "tides");
  const GraphStart tides{{id("tides")}};
  EXPECT_THAT(keys(found({.graph = tides, .expand = {.direction = Direction::kOut}})),
              ElementsAre("boats"));
  const ShardHits two =
      found({.graph = tides, .expand = {.hops = 2, .direction = Direction::kOut, .decay = 0.5}});
  ASSERT_THAT(keys(two), ElementsAre("boats", "hills"));
  EXPECT_EQ(two.hits[0].score, 0.5);
  EXPECT_EQ(two.hits[1].score, 0.25);
  ASSERT_TRUE(two.hits[1].trace.has_value());
  EXPECT_EQ(two.hits[1].trace->by, id("boats"));
  EXPECT_EQ(two.hits[1].trace->hops, 2U);
  ASSERT_EQ(two.hits[1].trace->edges.size(), 2U);
  EXPECT_EQ(two.hits[1].trace->edges[0].id.to, id("boats"));
  EXPECT_EQ(two.hits[1].trace->edges[1].id.to, id("hills"));
  EXPECT_FALSE(search(shard(), {.graph = GraphStart{}}).ok());
  EXPECT_THAT(keys(found({.graph = GraphStart{{id("never there")}}})), IsEmpty());
}

TEST_F(ShardQueryTest, WordsAndLinksTogetherPreferWhatHasBoth) {
  link("hills", "boats");
  const ShardHits hits =
      found({.text = TextLeg{.query = "sea"}, .graph = GraphStart{{id("hills")}}});
  EXPECT_EQ(key_of(hits.hits[0]), "boats");
  ASSERT_EQ(hits.hits[0].legs.size(), 2U);
  EXPECT_EQ(hits.hits[0].legs[1].leg, LegKind::kGraph);
  EXPECT_TRUE(hits.hits[0].trace.has_value());
  EXPECT_THAT(sorted_keys(hits), ElementsAre("boats", "tides"));
}

TEST_F(ShardQueryTest, NeighboursJoinWithWhatIsPassedOnToThem) {
  link("tides", "hills", 2);
  link("tides", "boats", 1);
  link("hills", "moon", 2);
  link("moon", "tides", 2);
  const VectorLeg close{.space = "main", .vector = {1, 0}};
  const ShardHits hits = found({.vector = close,
                                .scope = {.filters = {}},
                                .fusion = {.depth = 1},
                                .expand = {.hops = 3, .direction = Direction::kOut},
                                .k = 4});
  // Only the nearest document, tides, is found; with k = 4 all documents with vectors are.
  std::map<std::string, double> scores;
  for (const ShardHit& hit : hits.hits) scores[key_of(hit)] = hit.score;
  EXPECT_NEAR(scores["tides"], 1, 1e-6);
  EXPECT_NEAR(scores["boats"], 0.8, 1e-6);  // its own is better than 0.25 by way of tides
  EXPECT_NEAR(scores["hills"], 0.5, 1e-6);
  EXPECT_NEAR(scores["moon"], 0.25, 1e-6);
  const ShardHit& moon = hits.hits[3];
  ASSERT_TRUE(moon.trace.has_value());
  EXPECT_EQ(moon.trace->hops, 2U);
  EXPECT_EQ(moon.trace->by, id("hills"));
  EXPECT_EQ(moon.legs.back().leg, LegKind::kGraph);
  const ShardHit& hills = hits.hits[2];
  double shares = 0;
  for (const LegScore& leg : hills.legs) shares += leg.share;
  EXPECT_NEAR(shares, hills.score, 1e-9);
}

TEST_F(ShardQueryTest, OnlySoManyNeighboursJoinAndOnlyThoseInScope) {
  for (const char* to : {"boats", "hills", "moon"}) link("tides", to);
  const ShardQuery query{.text = TextLeg{.query = "pulls"}, .expand = {.hops = 1, .most = 2}};
  EXPECT_THAT(keys(found(query)), ElementsAre("tides", "boats", "hills"));
  ShardQuery scoped = query;
  scoped.scope.filters = {{"tag", "sea"}};
  EXPECT_THAT(keys(found(scoped)), ElementsAre("tides", "boats"));
}

TEST_F(ShardQueryTest, WhatMakesNoSenseIsRefused) {
  const TextLeg sea{.query = "sea"};
  EXPECT_FALSE(search(shard(), {.text = sea, .fusion = {.alpha = 1.5}}).ok());
  EXPECT_FALSE(search(shard(), {.text = sea, .fusion = {.alpha = std::nan("")}}).ok());
  EXPECT_FALSE(search(shard(), {.text = sea, .fusion = {.floor = 1}}).ok());
  EXPECT_FALSE(search(shard(), {.text = sea, .expand = {.hops = 1, .decay = 2}}).ok());
  EXPECT_FALSE(search(shard(), {.text = sea, .expand = {.hops = 1000}}).ok());
  EXPECT_FALSE(search(shard(), {.vector = VectorLeg{.space = "main", .vector = {1}}}).ok());
  EXPECT_TRUE(search(shard(), {.text = sea, .k = SIZE_MAX, .offset = SIZE_MAX}).ok());
  EXPECT_TRUE(search(shard(), {.text = sea, .k = 0}).ok());
}

TEST_F(ShardQueryTest, EqualScoresComeByNumber) {
  for (int i = 0; i < 20; ++i) put(said("same" + std::to_string(i), "equal words"));
  for (const bool vector : {false, true}) {
    ShardQuery query{.text = TextLeg{.query = "words"}, .k = 20};
    if (vector) query.vector = letters("equal words");
    const ShardHits hits = found(query);
    ASSERT_EQ(hits.hits.size(), 20U);
    for (std::size_t i = 1; i < 20; ++i) EXPECT_LT(hits.hits[i - 1].number, hits.hits[i].number);
  }
}

}  // namespace
}  // namespace kin::index
