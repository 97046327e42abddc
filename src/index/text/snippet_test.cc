#include "index/text/snippet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kin::index {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> marked(std::string_view query, std::string_view text,
                                std::size_t field = 1) {
  Highlighter highlighter = *Highlighter::create(*parse_query(query, {}), {});
  std::vector<std::string> words;
  for (const TextRange& range : highlighter.marks(field, text))
    words.emplace_back(text.substr(range.begin, range.end - range.begin));
  return words;
}

TEST(Highlighter, MarksWordsByTheirStems) {
  EXPECT_THAT(marked("connect", "Connections; connected, but no cable."),
              ElementsAre("Connections", "connected"));
}

TEST(Highlighter, MarksWhatPatternsAndMisspellingsFind) {
  EXPECT_THAT(marked("Comp*", "A computer, computing."), ElementsAre("computer", "computing"));
  EXPECT_THAT(marked("comuter~1", "A computer, computing."), ElementsAre("computer"));
}

TEST(Highlighter, MarksOnlyWhatIsAskedForWhereItIsAskedFor) {
  EXPECT_THAT(marked("apple -pear", "apple pear"), ElementsAre("apple"));
  EXPECT_THAT(marked("title:apple pear", "apple pear", 1), ElementsAre("pear"));
  EXPECT_THAT(marked("title:apple pear", "apple pear", 0), ElementsAre("apple", "pear"));
}

TEST(Highlighter, MarksStretchesOfScriptsWithoutSpaces) {
  EXPECT_THAT(marked("東京タ", "私は東京タワーへ"), ElementsAre("東京タ"));
}

TEST(Highlighter, ShowsThePartWithTheMostDifferentWords) {
  std::string text = "apple apple apple. ";
  for (int i = 0; i < 100; ++i) text += "filler ";
  text += "an apple pie stands here. ";
  for (int i = 0; i < 100; ++i) text += "filler ";
  Highlighter highlighter = *Highlighter::create(plain_query("apple pie"), {});
  const Snippet snippet = highlighter.snippet(1, text, 80);
  const std::string part = text.substr(snippet.part.begin, snippet.part.end - snippet.part.begin);
  EXPECT_THAT(part, testing::HasSubstr("an apple pie stands here"));
  EXPECT_LE(part.size(), 80U);
  EXPECT_EQ(snippet.marks.size(), 2U);
}

TEST(Highlighter, ShowsTheBeginningIfNothingMatches) {
  Highlighter highlighter = *Highlighter::create(plain_query("absent"), {});
  const Snippet snippet = highlighter.snippet(1, "Some words. And more of them.", 12);
  EXPECT_EQ(snippet.part, (TextRange{.begin = 0, .end = 10}));
  EXPECT_THAT(snippet.marks, IsEmpty());
  EXPECT_EQ(highlighter.snippet(1, "Short.", 100).part, (TextRange{.begin = 0, .end = 6}));
  EXPECT_EQ(highlighter.snippet(1, "", 100).part, (TextRange{}));
}

}  // namespace
}  // namespace kin::index
