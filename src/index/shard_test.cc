#include <gtest/gtest.h>

#include "base/random.h"
#include "index/graph.h"
#include "index/testing/shard_fixture.h"

namespace kin::index {
namespace {

using Strings = std::vector<std::string>;

class ShardTest : public ShardFixture {};

TEST_F(ShardTest, WhatIsWrittenIsFoundByEveryLegAtOnce) {
  open(given_options());
  apply({PutEntity{.entity = with_vector(made("a", "tides of the sea"), {1, 0, 0, 0})},
         PutEntity{.entity = with_vector(made("b", "mountains"), {0, 1, 0, 0})},
         PutEdge{.edge = edge("a", "cites", "b")},
         AddFragment{.id = id("b"), .fragment = {.time = 5, .text = "glaciers melt"}}});
  EXPECT_EQ(found("tides"), Strings{"a"});
  EXPECT_EQ(found("glaciers"), Strings{"other"});
  EXPECT_EQ(nearest({0, 0.9F, 0, 0}, {.k = 1}), Strings{"b"});
  EXPECT_EQ(edges(shard().view().truth(), {.node = id("a")})->size(), 1U);
  expect_clean();
}

TEST_F(ShardTest, DocumentsOfAllKindsHaveTheirFacetsAndTheirTimes) {
  open({});
  Entity entity = made("a", "red #herring");
  entity.tags = {"fish"};
  entity.attributes = {{"year", std::int64_t{1994}}, {"open", true}, {"note", std::string("x\ny")}};
  entity.valid = {.from = 10, .until = 20};
  Edge said = edge("a", "cites", "b");
  said.summary = "red thread";
  apply({PutEntity{.entity = entity}, PutEdge{.edge = said},
         AddFragment{.id = id("a"), .fragment = {.time = 15, .text = "red carpet"}},
         AddEdgeFragment{.from = id("a"),
                         .name = "cites",
                         .to = id("b"),
                         .fragment = {.time = 30, .text = "red line"}}});
  const auto count = [&](const std::string& query, std::optional<std::int64_t> at = {}) {
    const TextView text = shard().view().text();
    return text.search(*parse_query(query, text.options()), {.valid_at = at})->hits.size();
  };
  EXPECT_EQ(count("red"), 4U);
  EXPECT_EQ(count("type:entity"), 1U);
  EXPECT_EQ(count("type:edge_fragment"), 1U);
  EXPECT_EQ(count("tag:herring"), 1U);
  EXPECT_EQ(count("tags:fish"), 1U);
  EXPECT_EQ(count("source:test"), 1U);
  EXPECT_EQ(count("attribute:\"year=1994\""), 1U);
  EXPECT_EQ(count("attribute:\"name=cites\""), 2U);
  EXPECT_EQ(count("red", 12), 2U) << "the entity and the edge";
  EXPECT_EQ(count("red", 16), 3U) << "and what was said of the entity";
  EXPECT_EQ(count("red", 40), 3U) << "the entity is over";
}

TEST_F(ShardTest, VectorsThatDoNotFitAreRefusedAndNothingIsWritten) {
  open(given_options());
  const std::vector<Mutation> mutations{PutEntity{.entity = with_vector(made("a"), {1, 2, 3, 4})},
                                        PutEntity{.entity = with_vector(made("b"), {1, 2, 3})}};
  const auto refused = shard().apply(mutations);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::kInvalidArgument);
  EXPECT_NE(refused.error().message.find("entity b, space main"), std::string::npos);
  EXPECT_EQ(shard().view().truth().counters().entities, 0U);
  Entity other = made("c");
  other.vectors = {{"elsewhere", {1, 2}}};
  apply({PutEntity{.entity = other}});
  EXPECT_EQ(shard().stats().spaces[0].vectors.vectors, 0U);
}

TEST_F(ShardTest, AnUpdateLeavesNothingOfWhatWasThereBefore) {
  open(given_options());
  apply({PutEntity{.entity = with_vector(made("a", "first"), {1, 0, 0, 0})}});
  apply({PutEntity{.entity = with_vector(made("a", "second"), {0, 1, 0, 0})},
         PutEntity{.entity = made("b", "third")}});
  EXPECT_TRUE(found("first").empty());
  EXPECT_EQ(found("second"), Strings{"a"});
  EXPECT_EQ(nearest({1, 0, 0, 0}), Strings{"a"});
  apply({RemoveEntity{.id = id("a")}});
  EXPECT_TRUE(found("second").empty());
  EXPECT_TRUE(nearest({1, 0, 0, 0}).empty());
  expect_clean();
}

TEST_F(ShardTest, AViewStaysAsItWasWhateverIsWritten) {
  open(given_options());
  apply({PutEntity{.entity = with_vector(made("a", "one"), {1, 0, 0, 0})},
         PutEntity{.entity = with_vector(made("b", "two"), {0, 1, 0, 0})}});
  const auto before = std::make_unique<ShardView>(shard().view());
  apply({PutEntity{.entity = with_vector(made("a", "other"), {0, 0, 1, 0})},
         PutEntity{.entity = with_vector(made("c", "new"), {1, 0, 0, 0})},
         RemoveEntity{.id = id("b")}});
  step_all();
  EXPECT_EQ(nearest(*before, {1, 0, 0, 0}), (Strings{"a", "b"}));
  EXPECT_EQ(nearest(*before, {1, 0, 0, 0}, {.exact = true}), (Strings{"a", "b"}));
  EXPECT_EQ(found(*before, "one"), Strings{"a"});
  EXPECT_TRUE(found(*before, "new").empty());
  EXPECT_EQ(nearest({1, 0, 0, 0}), (Strings{"c", "a"}));
  EXPECT_EQ(shard().stats().spaces[0].vectors.vectors, 4U) << "kept for the view";
  expect_clean();
}

TEST_F(ShardTest, WhatIsRetiredLeavesTheIndexOnceNoViewSeesIt) {
  open(given_options());
  apply({PutEntity{.entity = with_vector(made("a"), {1, 0, 0, 0})}});
  auto view = std::make_unique<ShardView>(shard().view());
  apply({RemoveEntity{.id = id("a")}});
  EXPECT_EQ(shard().stats().spaces[0].vectors.vectors, 1U);
  view.reset();
  step_all();
  EXPECT_EQ(shard().stats().spaces[0].vectors.vectors, 0U);
}

TEST_F(ShardTest, OpensAfterACrashWithEverythingThatWasAcknowledged) {
  for (const bool with_checkpoint : {false, true}) {
    open(given_options());
    apply({PutEntity{.entity = with_vector(made("a", "one"), {1, 0, 0, 0})},
           PutEntity{.entity = with_vector(made("b", "two"), {0, 1, 0, 0})}});
    if (with_checkpoint) {
      ASSERT_TRUE(shard().checkpoint().ok());
    }
    apply({PutEntity{.entity = with_vector(made("b", "deux"), {0, 0, 1, 0})},
           PutEntity{.entity = with_vector(made("c", "three"), {0, 0, 0, 1})},
           RemoveEntity{.id = id("a")}});
    drop();
    open(given_options());
    EXPECT_TRUE(found("one OR two").empty());
    EXPECT_EQ(found("deux"), Strings{"b"});
    EXPECT_EQ(nearest({0, 0, 0, 1}), (Strings{"c", "b"}));
    expect_clean();
  }
}

TEST_F(ShardTest, CheckpointsTrimTheChangelog) {
  open(given_options());
  apply({PutEntity{.entity = made("a")}, PutEntity{.entity = made("b")}});
  ASSERT_TRUE(shard().checkpoint().ok());
  apply({PutEntity{.entity = made("c")}});
  EXPECT_FALSE(shard().view().truth().changes({}).ok());
  EXPECT_EQ(shard().view().truth().changes({.after = 2})->changes.size(), 1U);
}

TEST_F(ShardTest, ANumberRetiredWhileAViewHeldItDoesNotComeBackFromACheckpoint) {
  open(given_options());
  apply({PutEntity{.entity = with_vector(made("a"), {1, 0, 0, 0})}});
  {
    const ShardView view = shard().view();
    apply({RemoveEntity{.id = id("a")}});
    ASSERT_TRUE(shard().checkpoint().ok());
  }
  drop();
  open(given_options());
  EXPECT_EQ(shard().stats().spaces[0].vectors.vectors, 0U);
  expect_clean();
}

TEST_F(ShardTest, ComputesVectorsFromWhatEntitiesSay) {
  ShardOptions options;
  options.spaces = {computed_space(1)};
  open(options);
  apply({PutEntity{.entity = made("a", "alpha")}, PutEntity{.entity = made("b", "beta")}});
  EXPECT_EQ(nearest(HashedWords(1).made("beta"), {.k = 1}), Strings{"b"});
  drop();
  open(options);
  EXPECT_EQ(nearest(HashedWords(1).made("alpha"), {.k = 1}), Strings{"a"});
  const ShardView view = shard().view();
  const auto hit = *view.nearest(**view.space("words"), HashedWords(1).made("alpha"), {.k = 1});
  EXPECT_EQ(**view.vector(**view.space("words"), DocNumber{hit[0].id}),
            HashedWords(1).made("alpha"));
  expect_clean();
}

TEST_F(ShardTest, RefusesVectorsForASpaceThatComputesThem) {
  ShardOptions options;
  options.spaces = {computed_space(1)};
  open(options);
  Entity entity = made("a");
  entity.vectors = {{"words", std::vector<float>(8, 1)}};
  EXPECT_FALSE(shard().apply(std::vector<Mutation>{PutEntity{.entity = entity}}).ok());
}

class FailingSource : public HashedWords {
 public:
  FailingSource() : HashedWords(1) {}
  Result<std::vector<std::vector<float>>> documents(std::span<const SourceText>) const override {
    return Error{Code::kUnavailable, "no answer"};
  }
};

TEST_F(ShardTest, ASourceThatFailsFailsTheBatchAndNothingElse) {
  ShardOptions options;
  options.spaces = {computed_space(1)};
  options.spaces[0].source = std::make_shared<FailingSource>();
  open(options);
  EXPECT_FALSE(shard().apply(std::vector<Mutation>{PutEntity{.entity = made("a")}}).ok());
  EXPECT_EQ(shard().view().truth().counters().entities, 0U);
  apply({PutEdge{.edge = edge("a", "x", "b")}});
}

TEST_F(ShardTest, MakesASpaceAnewBesideTheOldOne) {
  ShardOptions options;
  options.spaces = {computed_space(1)};
  open(options);
  std::vector<Mutation> mutations;
  for (int i = 0; i < 50; ++i)
    mutations.emplace_back(PutEntity{.entity = made("k" + std::to_string(i))});
  apply(mutations);
  ASSERT_TRUE(shard().replace_space(computed_space(2)).ok());
  EXPECT_EQ(shard().stats().spaces[0].building, 0);
  apply({PutEntity{.entity = made("k7", "changed")}, RemoveEntity{.id = id("k8")},
         PutEntity{.entity = made("late")}});
  EXPECT_EQ(shard().view().spaces()[0].generation, 1U);
  step_all();
  EXPECT_EQ(shard().view().spaces()[0].generation, 2U);
  EXPECT_EQ(shard().stats().spaces[0].building, 1);
  EXPECT_EQ(shard().stats().spaces[0].vectors.vectors, 50U);
  EXPECT_EQ(nearest(HashedWords(2).made("changed"), {.k = 1}), Strings{"k7"});
  EXPECT_EQ(nearest(HashedWords(2).made("Text of late"), {.k = 1}), Strings{"late"});
  expect_clean();
  drop();
  options.spaces = {computed_space(2)};
  open(options);
  EXPECT_EQ(shard().stats().spaces[0].building, 1) << "the new one is in the checkpoint";
  expect_clean();
}

TEST_F(ShardTest, ASpaceOfAnotherGenerationIsMadeAnewBySteps) {
  ShardOptions options;
  options.spaces = {computed_space(1)};
  open(options);
  apply({PutEntity{.entity = made("a", "alpha")}, PutEntity{.entity = made("b", "beta")}});
  ASSERT_TRUE(shard().checkpoint().ok());
  drop();
  options.spaces = {computed_space(2), given_space()};
  open(options);
  EXPECT_LT(shard().stats().spaces[0].building, 1);
  EXPECT_EQ(found("alpha"), Strings{"a"});
  step_all();
  EXPECT_EQ(shard().stats().spaces[0].building, 1);
  EXPECT_EQ(nearest(HashedWords(2).made("beta"), {.k = 1}, "words"), Strings{"b"});
  expect_clean();
}

TEST_F(ShardTest, AddsASpaceForVectorsThatWereGivenBefore) {
  open({});
  apply({PutEntity{.entity = with_vector(made("a"), {1, 0, 0, 0})},
         PutEntity{.entity = with_vector(made("b"), {1, 0})}});
  ASSERT_TRUE(shard().replace_space(given_space()).ok());
  step_all();
  EXPECT_EQ(nearest({1, 0, 0, 0}), Strings{"a"}) << "the other does not fit";
  expect_clean();
}

TEST_F(ShardTest, ReadsVectorsFromTheTruthWhereTheIndexKeepsNone) {
  ShardOptions options = given_options();
  options.spaces[0].space.storage = RawStorage::kElsewhere;
  options.cell_size = 8;
  open(options);
  Random random(3);
  std::vector<Mutation> mutations;
  for (int i = 0; i < 2'500; ++i) {
    std::vector<float> values;
    for (int d = 0; d < 4; ++d) values.push_back(static_cast<float>(random.unit()));
    mutations.emplace_back(PutEntity{.entity = with_vector(made(std::to_string(i)), values)});
  }
  apply(mutations);
  step_all();
  const auto view = std::make_unique<ShardView>(shard().view());
  EXPECT_GT(shard().stats().spaces[0].vectors.cells, 100U);
  const auto& first = std::get<PutEntity>(mutations[17]).entity;
  apply({PutEntity{.entity = with_vector(made("17"), {5, 5, 5, 5})}});
  const VectorSearch exactly{.k = 1, .rerank = VectorSearch::Rerank::kAlways};
  EXPECT_EQ(nearest(*view, first.vectors[0].values, exactly), Strings{"17"});
  EXPECT_EQ(nearest({5, 5, 5, 5}, exactly), Strings{"17"});
  expect_clean();
}

}  // namespace
}  // namespace kin::index
