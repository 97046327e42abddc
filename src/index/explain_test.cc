#include "index/explain.h"

#include <gmock/gmock.h>

#include "index/testing/shard_query_fixture.h"

namespace kin::index {
namespace {

using testing::ElementsAre;

class ShardExplainTest : public ShardQueryFixture {
 protected:
  ShardExplainTest() {
    put(said("tides", "the moon pulls the sea, and the sea comes and goes"));
    put(said("boats", "boats sail the sea"));
    put(said("hills", "hills are far from water"));
    link("boats", "hills");
  }
  std::vector<std::string> marked(const HitSnippet& snippet) {
    std::vector<std::string> words;
    for (const TextRange& mark : snippet.marks)
      words.push_back(snippet.part.substr(mark.begin, mark.end - mark.begin));
    return words;
  }
};

TEST_F(ShardExplainTest, SaysWhatTheSearchSaid) {
  const ShardView view = shard();
  for (const ShardQuery& query : std::vector<ShardQuery>{
           {.text = TextLeg{.query = "sea sail"}},
           {.vector = VectorLeg{.text = "sea"}},
           {.text = TextLeg{.query = "sea"}, .vector = VectorLeg{}},
           {.text = TextLeg{.query = "boats", .fuzzy = 1}, .expand = {.hops = 1}}}) {
    const ShardHits hits = *search(view, query);
    ASSERT_FALSE(hits.hits.empty());
    for (std::size_t i = 0; i < hits.hits.size(); ++i) {
      const ShardHit& hit = hits.hits[i];
      const HitExplanation why = *explain(view, query, hit.number);
      EXPECT_EQ(why.rank, i + 1);
      EXPECT_EQ(why.score, hit.score);
      ASSERT_EQ(why.legs.size(), hit.legs.size());
      EXPECT_EQ(why.trace.has_value(), hit.trace.has_value());
      for (const LegScore& leg : why.legs) {
        if (leg.leg == LegKind::kText) {
          EXPECT_EQ(why.text->score, leg.score);
        } else if (leg.leg == LegKind::kVector) {
          EXPECT_NEAR(why.vector->similarity, leg.score, 1e-6);
        }
      }
    }
  }
}

TEST_F(ShardExplainTest, TermsAddUpToTheScoreOfTheText) {
  const HitExplanation why =
      *explain(shard(), {.text = TextLeg{.query = "sea moon nothing"}}, number_of("tides"));
  ASSERT_TRUE(why.text.has_value());
  ASSERT_EQ(why.text->terms.size(), 2U);
  EXPECT_NEAR(why.text->terms[0].score + why.text->terms[1].score, why.text->score, 1e-9);
}

TEST_F(ShardExplainTest, WhatIsNotFoundHasNoRankButItsSimilarity) {
  const ShardQuery query{.vector = VectorLeg{.text = "water"}, .k = 1};
  const HitExplanation why = *explain(shard(), query, number_of("tides"));
  EXPECT_EQ(why.rank, 0U);
  EXPECT_TRUE(why.legs.empty());
  ASSERT_TRUE(why.vector.has_value());
  EXPECT_EQ(why.vector->space, "letters");
  EXPECT_GT(why.vector->similarity, 0);
}

TEST_F(ShardExplainTest, UnknownDocumentsAreNotFound) {
  const auto none = explain(shard(), {.text = TextLeg{.query = "sea"}}, DocNumber{9999});
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, Code::kNotFound);
}

TEST_F(ShardExplainTest, SnippetsShowTheBestPartWithItsMarks) {
  const std::vector<DocNumber> numbers{number_of("tides"), DocNumber{9999}};
  const auto all =
      *snippets(shard(), {.text = TextLeg{.query = "moon tides -goes"}}, numbers, {.length = 16});
  ASSERT_EQ(all.size(), 2U);
  ASSERT_EQ(all[0].size(), 2U);
  EXPECT_EQ(all[0][0].field, "title");
  EXPECT_EQ(all[0][0].part, "tides");
  EXPECT_THAT(marked(all[0][0]), ElementsAre("tides"));
  EXPECT_EQ(all[0][1].field, "text");
  EXPECT_LE(all[0][1].part.size(), 16U);
  EXPECT_FALSE(all[0][1].ends_field);
  EXPECT_THAT(marked(all[0][1]), ElementsAre("moon"));
  EXPECT_TRUE(all[1].empty());
}

TEST_F(ShardExplainTest, SnippetsOfNearnessMarkTheWordsItWasAskedWith) {
  const std::vector<DocNumber> numbers{number_of("boats")};
  const auto near = *snippets(shard(), {.vector = VectorLeg{.text = "sea"}}, numbers);
  EXPECT_THAT(marked(near[0][1]), ElementsAre("sea"));
  EXPECT_TRUE(near[0][1].ends_field);
  const auto listed = *snippets(shard(), {}, numbers);
  EXPECT_EQ(listed[0][1].part, "boats sail the sea");
  EXPECT_TRUE(listed[0][1].marks.empty());
}

TEST_F(ShardExplainTest, SnippetsOfFragmentsShowWhatTheySay) {
  do_all({AddFragment{.id = id("hills"), .fragment = {.time = 5, .text = "no sea in sight"}}});
  const ShardHits hits = found(
      {.text = TextLeg{.query = "sight"}, .scope = {.filters = {{"type", "entity_fragment"}}}});
  ASSERT_EQ(hits.hits.size(), 1U);
  const std::vector<DocNumber> numbers{hits.hits[0].number};
  const auto all = *snippets(shard(), {.text = TextLeg{.query = "sight"}}, numbers);
  ASSERT_EQ(all[0].size(), 1U);
  EXPECT_THAT(marked(all[0][0]), ElementsAre("sight"));
}

}  // namespace
}  // namespace kin::index
