// Queries and pipelines over more documents than one page or one block of them.
#include <gmock/gmock.h>

#include <set>

#include "base/random.h"
#include "index/query.h"
#include "index/testing/shard_query_fixture.h"

namespace kin::index {
namespace {

using testing::HasSubstr;

class ManyDocuments : public ShardQueryFixture {
 protected:
  static constexpr int kMany = 600;
  ManyDocuments() {
    Random random(7);
    std::vector<Mutation> all;
    const std::vector<std::string> words{"alpha", "beta", "gamma", "delta", "epsilon", "zeta"};
    for (int i = 0; i < kMany; ++i) {
      std::string text;
      for (int w = 0; w < 6; ++w) text += words[random.below(words.size())] + " ";
      Entity entity = said("e" + std::to_string(i), text);
      entity.tags = {i % 2 == 0 ? "half" : "other"};
      if (i % 10 == 3) entity.tags.push_back("tenth");
      if (i % 100 == 17) entity.tags.push_back("few");
      if (i == 345) entity.tags.push_back("single");
      all.push_back(PutEntity{.entity = entity});
      if (i > 0)
        all.push_back(PutEdge{
            .edge = edge("e" + std::to_string(random.below(i)), "to", "e" + std::to_string(i))});
    }
    do_all(all);
  }

  std::vector<ShardQuery> queries() {
    const TextLeg text{.query = "alpha gamma"};
    const VectorLeg vector = letters("alpha epsilon", true);
    return {{.text = text},
            {.vector = vector},
            {.text = text, .vector = vector},
            {.text = text, .vector = vector, .fusion = {.how = Fusion::kRrf}},
            {},
            {.text = text, .expand = {.hops = 2}},
            {.text = text, .vector = vector, .expand = {.hops = 1}},
            {.expand = {.hops = 1}},
            {.graph = GraphStart{{id("e0")}}, .expand = {.hops = 4}},
            {.text = text, .vector = vector, .graph = GraphStart{{id("e1")}}}};
  }
};

TEST_F(ManyDocuments, PagesHaveNeitherGapsNorRepeats) {
  const ShardView view = shard();
  for (ShardQuery query : queries()) {
    query.k = 50'000;
    query.fusion.depth = 200;
    ShardQuery whole = query;
    whole.k = 200;
    std::vector<DocNumber> paged;
    query.k = 17;
    for (query.offset = 0;; query.offset += query.k) {
      const ShardHits page = *search(view, query);
      for (const ShardHit& hit : page.hits) paged.push_back(hit.number);
      if (page.hits.size() < query.k) break;
    }
    EXPECT_EQ(std::set(paged.begin(), paged.end()).size(), paged.size());
    const ShardHits first = *search(view, whole);
    ASSERT_LE(first.hits.size(), paged.size());
    for (std::size_t i = 0; i < first.hits.size(); ++i)
      EXPECT_EQ(first.hits[i].number, paged[i]) << i;
  }
}

TEST_F(ManyDocuments, TheSameQueryGivesTheSameAnswer) {
  const ShardView view = shard();
  const ShardView again = shard();
  for (const ShardQuery& query : queries()) {
    const ShardHits a = *search(view, query);
    const ShardHits b = *search(again, query);
    ASSERT_EQ(a.hits.size(), b.hits.size());
    for (std::size_t i = 0; i < a.hits.size(); ++i) {
      EXPECT_EQ(a.hits[i].number, b.hits[i].number);
      EXPECT_EQ(a.hits[i].score, b.hits[i].score);
    }
  }
}

TEST_F(ManyDocuments, FiltersOfAnySelectivityLeaveTheBestOfWhatTheyKeep) {
  const ShardView view = shard();
  for (const std::string tag : {"half", "tenth", "few", "single"}) {
    std::set<DocNumber> tagged;
    const ShardHits all = *search(view, {.scope = {.filters = {{"tag", tag}}}, .k = kMany});
    for (const ShardHit& hit : all.hits) tagged.insert(hit.number);
    for (ShardQuery query : queries()) {
      if (query.text && query.vector) continue;
      if (query.expand.hops > 0 && !query.graph) continue;
      query.k = kMany;
      std::vector<DocNumber> wanted;
      const ShardHits unfiltered = *search(view, query);
      for (const ShardHit& hit : unfiltered.hits) {
        if (tagged.contains(hit.number) && wanted.size() < 10) wanted.push_back(hit.number);
      }
      query.scope.filters = {{"tag", tag}};
      query.k = 10;
      std::vector<DocNumber> got;
      const ShardHits filtered = *search(view, query);
      for (const ShardHit& hit : filtered.hits) got.push_back(hit.number);
      EXPECT_EQ(got, wanted) << tag;
    }
  }
}

class PipelineTest : public ManyDocuments {
 protected:
  ShardHits run(const std::vector<Stage>& stages) {
    auto hits = run_pipeline(shard(), stages);
    KIN_CHECK(hits.ok(), "the pipeline makes sense");
    return std::move(*hits);
  }
};

TEST_F(PipelineTest, EachStageWorksOnWhatTheOneBeforeLeft) {
  const FindStage nearest{{.vector = letters("beta zeta", true), .k = 50}};
  const FindStage words{{.text = TextLeg{.query = "gamma"}, .k = 50}};
  const ShardHits close = run({nearest});
  std::set<DocNumber> candidates;
  for (const ShardHit& hit : close.hits) candidates.insert(hit.number);
  const ShardHits both = run({nearest, words});
  ASSERT_FALSE(both.hits.empty());
  for (const ShardHit& hit : both.hits) {
    EXPECT_TRUE(candidates.contains(hit.number));
    ASSERT_EQ(hit.legs.size(), 2U);
    EXPECT_EQ(hit.score, hit.legs[1].score);
  }
  const ShardHits limited = run({nearest, words, LimitStage{3}});
  ASSERT_EQ(limited.hits.size(), std::min<std::size_t>(3, both.hits.size()));
  EXPECT_EQ(limited.hits[0].number, both.hits[0].number);
  const ShardHits filtered = run({nearest, FilterStage{{.filters = {{"tag", "half"}}}}});
  EXPECT_GT(filtered.hits.size(), 0U);
  EXPECT_LT(filtered.hits.size(), close.hits.size());
  for (const ShardHit& hit : filtered.hits) EXPECT_TRUE(candidates.contains(hit.number));
}

TEST_F(PipelineTest, ExpansionAddsNeighboursThatLaterStagesSee) {
  const FindStage one{{.scope = {.filters = {{"id", "e0"}}}, .k = 1}};
  const ExpandStage expand{{.hops = 1, .direction = Direction::kOut}};
  const ShardHits reached = run({one, expand});
  EXPECT_GT(reached.hits.size(), 1U);
  EXPECT_EQ(key_of(reached.hits[0]), "e0");
  for (std::size_t i = 1; i < reached.hits.size(); ++i) EXPECT_EQ(reached.hits[i].score, 0.5);
  const ShardHits searched =
      run({one, expand, FindStage{{.text = TextLeg{.query = "alpha"}, .k = 100}}});
  EXPECT_LE(searched.hits.size(), reached.hits.size());
}

TEST_F(PipelineTest, PartOfTheScoreBeforeCanStay) {
  const FindStage words{{.text = TextLeg{.query = "gamma"}, .k = 40}};
  FindStage nearest{{.vector = letters("beta", true), .k = 40}};
  nearest.keep = 1;
  const ShardHits before = run({words});
  const ShardHits kept = run({words, nearest});
  ASSERT_EQ(kept.hits.size(), before.hits.size());
  for (std::size_t i = 0; i < kept.hits.size(); ++i)
    EXPECT_NEAR(kept.hits[i].score, before.hits[i].score / before.hits[0].score, 1e-12);
  EXPECT_EQ(kept.hits[0].number, before.hits[0].number);
}

TEST_F(PipelineTest, ErrorsNameTheStage) {
  const FindStage words{{.text = TextLeg{.query = "gamma"}}};
  const auto message = [&](const std::vector<Stage>& stages) {
    const auto hits = run_pipeline(shard(), stages);
    EXPECT_FALSE(hits.ok());
    EXPECT_EQ(hits.error().code, Code::kInvalidArgument);
    return hits.error().message;
  };
  EXPECT_THAT(message({LimitStage{}}), HasSubstr("stage 1"));
  EXPECT_THAT(message({words, FindStage{{.text = TextLeg{.query = "(("}}}}), HasSubstr("stage 2"));
  EXPECT_THAT(message({words, LimitStage{}, ExpandStage{}}), HasSubstr("stage 3"));
  EXPECT_THAT(message({words, FindStage{{}, 1.5}}), HasSubstr("stage 2"));
  message({});
}

}  // namespace
}  // namespace kin::index
