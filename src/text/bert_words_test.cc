#include "text/bert_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kin::text {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> words(std::string_view text, BertNormalization options = {}) {
  BertWords cutter(options);
  const auto& found = cutter.split(text);
  return {found.begin(), found.end()};
}

TEST(BertWordsTest, CutsAtWhiteSpaceAndAroundPunctuation) {
  EXPECT_THAT(words("Don't stop, e-mail\tus\n now!"),
              ElementsAre("don", "'", "t", "stop", ",", "e", "-", "mail", "us", "now", "!"));
  EXPECT_THAT(words(" \n "), IsEmpty());
  EXPECT_THAT(words("«Ja»"), ElementsAre("«", "ja", "»"));
}

TEST(BertWordsTest, LowersAndTakesAccentsOff) {
  EXPECT_THAT(words("Café ÜBER Ångström"), ElementsAre("cafe", "uber", "angstrom"));
  EXPECT_THAT(words("Cafe\u0301"), ElementsAre("cafe"));
  EXPECT_THAT(words("ΌΨΙΣ"), ElementsAre("οψισ"));
}

TEST(BertWordsTest, KeepsWhatTheOptionsKeep) {
  EXPECT_THAT(words("Café", {.strip_accents = false}), ElementsAre("café"));
  EXPECT_THAT(words("Café", {.lower_case = false}), ElementsAre("Cafe"));
  EXPECT_THAT(words("東京tower", {.split_han = false}), ElementsAre("東京tower"));
}

TEST(BertWordsTest, TakesEachChineseCharacterForAWord) {
  EXPECT_THAT(words("東京tower"), ElementsAre("東", "京", "tower"));
  EXPECT_THAT(words("カタカナ"), ElementsAre("カタカナ"));
}

TEST(BertWordsTest, DropsControlsInsideAWord) {
  EXPECT_THAT(words("so\u00ADft\x01ly \uFFFD"), ElementsAre("softly"));
}

TEST(BertWordsTest, ForgetsTheTextBefore) {
  BertWords cutter({});
  cutter.split("one two");
  EXPECT_THAT(cutter.split("three"), ElementsAre("three"));
}

}  // namespace
}  // namespace kin::text
