#include "search/serving/searcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "base/file.h"
#include "base/testing/manual_clock.h"
#include "index/shard.h"

namespace kin::search {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Maps a text to the number of its letters, and counts its calls.
class CountingSource : public index::VectorSource {
 public:
  Result<std::vector<std::vector<float>>> documents(
      std::span<const index::SourceText> texts) const override {
    std::vector<std::vector<float>> all;
    for (const index::SourceText& text : texts) all.push_back(made(text.text));
    return all;
  }
  Result<std::vector<float>> query(std::string_view text) const override {
    ++asked;
    last = text;
    return made(text);
  }
  mutable int asked = 0;
  mutable std::string last;

 private:
  static std::vector<float> made(std::string_view text) {
    std::vector<float> counts(26);
    for (const char c : text)
      if (c >= 'a' && c <= 'z') counts[static_cast<std::size_t>(c - 'a')] += 1;
    return counts;
  }
};

class SearcherTest : public testing::Test {
 protected:
  SearcherTest() {
    index::ShardOptions options;
    options.spaces = {{.name = "letters",
                       .space = {.dimension = 26, .storage = index::RawStorage::kF32},
                       .origin = index::VectorOrigin::kComputed,
                       .source = source_},
                      {.name = "given", .space = {.dimension = 2}}};
    auto opened = index::Shard::open(folder_.path() / "shard", options);
    KIN_CHECK(opened.ok(), "the shard opens");
    shard_ = std::move(*opened);
    settings_ = {.text = index::text_options(options), .clock = &clock_};
    add("tides", "Tides", "the moon pulls the sea");
    add("boats", "Boats", "boats sail the sea");
    add("hills", "Hills", "hills are far from water");
  }

  void add(const std::string& id, const std::string& title, const std::string& text) {
    const Document document{.id = id, .title = title, .text = text};
    KIN_CHECK(shard_->apply(mutations_of(document, "given")).ok(), "a document is added");
  }
  Result<Answer> ask(const Question& question) const {
    return answer(shard_->view(), settings_, question);
  }
  static std::vector<std::string> ids(const Answer& answer) {
    std::vector<std::string> all;
    for (const AnswerHit& hit : answer.hits) all.push_back(hit.document.id);
    return all;
  }

  ManualClock clock_;
  std::shared_ptr<CountingSource> source_ = std::make_shared<CountingSource>();
  SearchSettings settings_;

 private:
  TemporaryFolder folder_ = *TemporaryFolder::create();

 protected:
  std::unique_ptr<index::Shard> shard_;
};

TEST_F(SearcherTest, WhatWasFoundIsShownAsALaterViewHasIt) {
  const Question question{.mode = Mode::kText, .text = "sea", .explain = true};
  const Found found = *find(shard_->view(), settings_, question);
  add("boats", "Big boats", "big boats cross the wide sea");
  const std::vector<index::Mutation> gone{index::RemoveEntity{.id = doc_id("tides")}};
  ASSERT_TRUE(shard_->apply(gone).ok());
  const Answer answer = *present(shard_->view(), found, question);
  ASSERT_THAT(ids(answer), ElementsAre("boats"));
  EXPECT_EQ(plain_text(answer.hits[0].title), "Big boats");
  EXPECT_EQ(plain_text(answer.hits[0].snippet), "big boats cross the wide sea");
  ASSERT_EQ(answer.hits[0].why->terms.size(), 1U);
  EXPECT_EQ(answer.count, 2U) << "as it was found";
}

TEST_F(SearcherTest, AQuestionsVectorIsMadeOnce) {
  ASSERT_TRUE(ask({.mode = Mode::kHybrid, .text = "moon -hills tag:sea", .explain = true}).ok());
  EXPECT_EQ(source_->asked, 1);
  EXPECT_EQ(source_->last, "moon");
  ASSERT_TRUE(ask({.mode = Mode::kText, .text = "moon"}).ok());
  ASSERT_TRUE(ask({.mode = Mode::kVector, .vector = std::vector<float>(26, 1)}).ok());
  EXPECT_EQ(source_->asked, 1);
  const Answer near = *ask({.mode = Mode::kVector, .text = "sea", .k = 3, .explain = true});
  EXPECT_EQ(source_->asked, 2);
  ASSERT_EQ(near.hits.size(), 3U);
  for (const AnswerHit& hit : near.hits) {
    EXPECT_TRUE(hit.why->similarity.has_value());
    EXPECT_THAT(hit.why->terms, IsEmpty()) << "words were not searched for";
    if (hit.document.id == "boats") {
      EXPECT_THAT(hit.snippet,
                  ElementsAre(MarkedPart{"boats sail the ", false}, MarkedPart{"sea", true}));
    }
  }
}

TEST_F(SearcherTest, WordsWithoutAVectorFindNothingByNearness) {
  EXPECT_THAT(ids(*ask({.mode = Mode::kVector, .text = "1234"})), IsEmpty());
  EXPECT_EQ(ids(*ask({.mode = Mode::kHybrid, .text = "1234 OR moon"})).front(), "tides");
}

TEST_F(SearcherTest, ASpaceThatMakesNoVectorsNeedsOne) {
  const auto none = ask({.mode = Mode::kVector, .text = "moon", .space = "given"});
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, Code::kFailedPrecondition);
  EXPECT_THAT(none.error().message, HasSubstr("\"given\""));
}

TEST_F(SearcherTest, DocumentsAreFilteredByTheirIds) {
  EXPECT_THAT(ids(*ask({.text = "sea", .scope = {.filters = {{"id", "tides"}}}})),
              ElementsAre("tides"));
}

TEST_F(SearcherTest, CommonWordsAloneNeitherMatchNorAreMarked) {
  for (const Mode mode : {Mode::kBest, Mode::kText, Mode::kHybrid, Mode::kVector}) {
    for (const char* text : {"the", "The", "from the", "(the of)"}) {
      const auto answer = ask({.mode = mode, .text = text, .space = "letters", .facets = {"type"}});
      ASSERT_TRUE(answer.ok()) << text << ": " << answer.error().message;
      EXPECT_THAT(answer->hits, IsEmpty()) << text;
      EXPECT_EQ(answer->count, 0U) << text;
      ASSERT_EQ(answer->facets.size(), 1U);
      EXPECT_THAT(answer->facets[0].values, IsEmpty());
    }
  }
  // Common words that the user asked for explicitly.
  for (const char* text : {"\"the moon\"", "+the", "the*", "text:moon the"})
    EXPECT_FALSE(ask({.mode = Mode::kText, .text = text})->hits.empty()) << text;
  const Answer moon = *ask({.mode = Mode::kText, .text = "the moon"});
  std::vector<std::string> marks;
  for (const AnswerHit& hit : moon.hits)
    for (const MarkedPart& part : hit.snippet)
      if (part.mark) marks.push_back(part.text);
  EXPECT_THAT(marks, ElementsAre("moon"));
}

TEST_F(SearcherTest, AFacetCountsWhatAClickOnItFinds) {
  for (int i = 0; i < 30; ++i) {
    Document document{
        .id = "d" + std::to_string(i), .title = "Water", .text = i % 3 ? "sea" : "sand"};
    document.tags = {i % 2 == 0 ? "even" : "odd", i % 5 == 0 ? "five" : "other"};
    ASSERT_TRUE(shard_->apply(mutations_of(document, "given")).ok());
  }
  for (const Mode mode : {Mode::kText, Mode::kHybrid}) {
    for (const std::vector<index::Filter>& filters :
         {std::vector<index::Filter>{}, {{"tag", "even"}}, {{"type", "entity"}}}) {
      const Question question{.mode = mode,
                              .text = "sea",
                              .space = "letters",
                              .scope = {.filters = filters},
                              .facets = {"tag", "type"}};
      const Answer all = *ask(question);
      ASSERT_EQ(all.facets.size(), 2U);
      for (const index::FacetCounts& facet : all.facets) {
        EXPECT_FALSE(facet.values.empty());
        for (const index::FacetCount& value : facet.values) {
          Question click = question;
          std::erase_if(click.scope.filters,
                        [&](const index::Filter& filter) { return filter.name == facet.name; });
          click.scope.filters.push_back({facet.name, value.value});
          EXPECT_EQ(ask(click)->count, value.count) << facet.name << " " << value.value;
        }
      }
    }
  }
}

TEST_F(SearcherTest, TimeIsThatOfTheClock) {
  Document old{.id = "old", .title = "Old", .text = "sea"};
  const index::Millis now = clock_.now().time_since_epoch().count();
  old.valid = {.from = index::kBeginning, .until = now + 1'000};
  ASSERT_TRUE(shard_->apply(mutations_of(old, "given")).ok());
  const Question question{.mode = Mode::kText, .text = "sea", .facets = {"validity"}};
  const Answer before = *ask(question);
  EXPECT_EQ(before.milliseconds, 0);
  EXPECT_EQ(before.facets[0].values[0].count, 3U);
  clock_.advance(std::chrono::seconds(2));
  EXPECT_EQ(ask(question)->facets[0].values[0].count, 2U);
}

}  // namespace
}  // namespace kin::search
