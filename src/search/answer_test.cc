#include "search/answer.h"

#include <gtest/gtest.h>

namespace kin::search {
namespace {

TEST(Answer, ReadsBackWhatItWrote) {
  AnswerHit hit{.kind = index::DocKind::kEdgeFragment,
                .score = 0.25,
                .document = {.id = "a", .source = "test", .tags = {"sea"}},
                .to = "b",
                .name = "cites",
                .title = {{"The ", false}, {"tide", true}},
                .snippet = {{"tide", true}},
                .legs = {{.leg = index::LegKind::kVector, .score = 0.5, .share = 0.1, .rank = 2}},
                .trace = AnswerTrace{.by = "c", .hops = 1, .edges = {{"c", "a", "cites", 2}}},
                .why = AnswerReason{.terms = {{"tide", 1.5, 2, 30}}, .similarity = 0.75}};
  const Answer answer{.hits = {hit, AnswerHit{}},
                      .count = 7,
                      .facets = {{.name = "tag", .values = {{.value = "sea", .count = 3}}}},
                      .mode = "hybrid",
                      .milliseconds = 1.5,
                      .behind = std::chrono::milliseconds{250}};
  const std::string json = to_json(answer);
  EXPECT_NE(json.find(R"("behind_seconds":0.25)"), std::string::npos) << json;
  EXPECT_EQ(to_json(Answer{}).find("behind_seconds"), std::string::npos);
  const auto parsed = data::parse_json(json);
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(to_json(answer_of(*parsed)), json);
}

TEST(Answer, ReadsAnyJsonWithoutComplaint) {
  for (const char* json : {"null", "{}", "[]", R"({"hits": [1, {"score": -1, "legs": [{}]}]})",
                           R"({"count": -5, "facets": {"tag": 1}, "hits": {}})"}) {
    const auto parsed = data::parse_json(json);
    ASSERT_TRUE(parsed.ok());
    EXPECT_LE(answer_of(*parsed).hits.size(), 2U) << json;
  }
}

}  // namespace
}  // namespace kin::search
