#include "search/question.h"

#include <gtest/gtest.h>

namespace kin::search {
namespace {

Result<Question> ask(std::string_view json) {
  KIN_TRY(const data::JsonValue value, data::parse_json(json));
  return question_of(value);
}

std::string complaint(std::string_view json) {
  const auto question = ask(json);
  return question ? "none" : question.error().message;
}

TEST(Question, ReadsEveryField) {
  const auto question = ask(
      R"({"q": "tides", "mode": "hybrid", "k": 5, "offset": 10, "filter": {"tag": ["x", "y"], "year": "1966"},
          "as_of": "1970", "expand": 2, "edges": ["cites"], "direction": "out", "fuzzy": 1, "alpha": 0.4,
          "fusion": "rrf", "facets": ["tag"], "explain": true, "exact": true, "vector": [1, 2], "space": "s",
          "recall": 0.9})");
  ASSERT_TRUE(question.ok()) << question.error().message;
  EXPECT_EQ(question->mode, Mode::kHybrid);
  EXPECT_EQ(question->k, 5U);
  EXPECT_EQ(question->scope.filters.size(), 3U);
  EXPECT_EQ(question->scope.as_of, 0);
  EXPECT_EQ(question->expand.hops, 2U);
  EXPECT_EQ(question->expand.direction, index::Direction::kOut);
  EXPECT_EQ(question->alpha, 0.4);
  EXPECT_EQ(question->fusion, index::Fusion::kRrf);
  EXPECT_EQ(question->vector.size(), 2U);
  EXPECT_EQ(question->recall, 0.9);
}

TEST(Question, IsReadAsItWasWritten) {
  for (
      const char* json :
      {R"({"q": "tides"})", R"({"vector": [1, 2.5], "mode": "vector", "exact": true})",
       R"({"q": "tides", "mode": "hybrid", "k": 5, "offset": 10, "filter": {"tag": ["x", "y"], "year": "1966"},
            "as_of": "1970", "expand": 2, "edges": ["cites"], "direction": "out", "fuzzy": 1, "alpha": 0.4,
            "fusion": "rrf", "facets": ["tag"], "explain": true, "plain": true, "space": "s", "from": ["a"], "recall": 0.5})",
       R"({"pipeline": [{"find": "vector", "q": "tides", "k": 200, "hops": 1}, {"expand": 2, "edges": ["cites"], "direction": "in"},
            {"filter": {"tag": "x"}}, {"as_of": "1970"}, {"find": "text", "q": "moon", "keep": 0.5}, {"limit": 10}]})"}) {
    const auto question = ask(json);
    ASSERT_TRUE(question.ok()) << question.error().message;
    const std::string written = to_json(*question);
    const auto again = ask(written);
    ASSERT_TRUE(again.ok()) << again.error().message;
    EXPECT_EQ(to_json(*again), written);
    EXPECT_EQ(again->scope.as_of, question->scope.as_of);
    EXPECT_EQ(again->scope.filters.size(), question->scope.filters.size());
    EXPECT_EQ(again->expand.direction, question->expand.direction);
    EXPECT_EQ(again->vector, question->vector);
    ASSERT_EQ(again->pipeline.size(), question->pipeline.size());
    for (std::size_t i = 0; i < question->pipeline.size(); ++i)
      EXPECT_EQ(again->pipeline[i].kind, question->pipeline[i].kind);
  }
}

TEST(Question, ReadsPipelines) {
  const auto question = ask(
      R"({"pipeline": [{"find": "vector", "q": "tides", "k": 200}, {"expand": 1, "edges": ["cites"]},
          {"filter": {"tag": "x"}}, {"find": "text", "q": "moon", "keep": 0.5}, {"limit": 10}]})");
  ASSERT_TRUE(question.ok()) << question.error().message;
  ASSERT_EQ(question->pipeline.size(), 5U);
  EXPECT_EQ(question->pipeline[0].find.k, 200U);
  EXPECT_EQ(question->pipeline[1].kind, StageQuestion::Kind::kExpand);
  EXPECT_EQ(question->pipeline[3].keep, 0.5);
  EXPECT_EQ(question->pipeline[4].limit, 10U);
}

TEST(Question, SaysWhatMakesNoSense) {
  EXPECT_EQ(complaint(R"({"query": "x"})"), "field \"query\" is not known here");
  EXPECT_EQ(complaint(R"({"q": 5})"), "field \"q\" must be a string");
  EXPECT_EQ(complaint(R"({"q": "x", "k": 0})"),
            "field \"k\" must be a whole number from 1 to 1000");
  EXPECT_EQ(complaint(R"({"q": "x", "mode": "magic"})"),
            "field \"mode\" must be one of \"best\", \"text\", \"vector\", \"hybrid\", \"graph\"");
  EXPECT_EQ(complaint(R"({"mode": "graph"})"),
            "field \"from\" is missing: a search by links needs ids of documents to start from");
  EXPECT_EQ(complaint(R"({"filter": {"tag": ["a", 1]}})"),
            "field \"filter.tag\" must be a string or a list of strings");
  EXPECT_EQ(complaint(R"({"as_of": "soon"})"),
            "field \"as_of\" must be a time such as 2024-03-05 or 2024-03-05T13:05:00Z");
  EXPECT_EQ(complaint(R"({"pipeline": []})"), "field \"pipeline\" must have 1 to 32 stages");
  EXPECT_EQ(complaint(R"({"pipeline": [{"find": "text", "k": -1}]})"),
            "field \"pipeline[0].k\" must be a whole number from 1 to 1000");
  EXPECT_EQ(complaint(R"({"pipeline": [{"limit": 5, "k": 1}]})"),
            "field \"pipeline[0].k\" is not known here");
  EXPECT_EQ(complaint(R"({"pipeline": [{"limit": 5}, {"lift": 1}]})"),
            "field \"pipeline[1]\" has none of \"find\", \"expand\", \"filter\", \"limit\"");
}

}  // namespace
}  // namespace kin::search
