#include "text/tokens.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kin::text {
namespace {

using testing::ElementsAre;

std::vector<std::string> words(std::string_view text) {
  std::vector<Token> tokens;
  split_tokens(text, tokens);
  std::vector<std::string> found;
  for (const Token& token : tokens)
    found.emplace_back(text.substr(token.begin, token.end - token.begin));
  return found;
}

std::string folded(std::string_view word) {
  std::string form;
  fold_word(word, form);
  return form;
}

TEST(Tokens, StandWhereTheTextHasThem) {
  EXPECT_THAT(words("Hello, World-wide 3.5 m²"),
              ElementsAre("Hello", "World", "wide", "3", "5", "m²"));
  EXPECT_THAT(words(""), ElementsAre());
  EXPECT_THAT(words(" — "), ElementsAre());
}

TEST(Tokens, AreCharactersWhereAScriptHasNoSpaces) {
  std::vector<Token> tokens;
  split_tokens("AI東京is", tokens);
  ASSERT_EQ(tokens.size(), 4U);
  EXPECT_FALSE(tokens[0].unit);
  EXPECT_TRUE(tokens[1].unit);
  EXPECT_TRUE(tokens[2].unit);
  EXPECT_EQ(tokens[1].end, tokens[2].begin);
  EXPECT_FALSE(tokens[3].unit);
}

TEST(Tokens, FoldCaseAndCompatibility) {
  EXPECT_EQ(folded("HeLLo"), "hello");
  EXPECT_EQ(folded("ÄRGER"), "ärger");
  EXPECT_EQ(folded("a\u0308"), "ä");
  EXPECT_EQ(folded("ﬁｎ"), "fin");
  EXPECT_EQ(folded("STRASSE"), folded("straße"));
}

TEST(Tokens, BearBytesThatAreNoText) {
  EXPECT_FALSE(words("a\xff\xfe z").empty());
  EXPECT_FALSE(folded("\xff\xc3").empty());
}

}  // namespace
}  // namespace kin::text
