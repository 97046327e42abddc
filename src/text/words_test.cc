#include "text/words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "text/reference.h"

namespace kin::text {
namespace {

using ::testing::ElementsAre;

std::vector<std::string_view> words(std::string_view utf8,
                                    Normalization preset = Normalization::kStandard) {
  std::vector<std::string_view> out{"left over"};
  split_words(utf8, preset, out);
  return out;
}

TEST(SplitWords, TakesRunsOfLettersMarksAndNumbers) {
  EXPECT_THAT(words(" It\u2019s 3.5 na\u00EFve,cafe\u0301s "),
              ElementsAre("It", "s", "3", "5", "na\u00EFve", "cafe\u0301s"));
}

TEST(SplitWords, TakesRunsWithoutWhiteSpaceWhenPunctuationCounts) {
  EXPECT_THAT(words("it's 3.5,\u00A0\u201Cyes\u201D", Normalization::kLight),
              ElementsAre("it's", "3.5,", "\u201Cyes\u201D"));
}

TEST(SplitWords, TakesEachCharacterOfScriptsWithoutSpaces) {
  EXPECT_THAT(words("\u6211\u7231C\u8BED\u8A002\u3002"),
              ElementsAre("\u6211", "\u7231", "C", "\u8BED", "\u8A00", "2"));
  EXPECT_THAT(words("\u30B3\u30FC\u30C9", Normalization::kNone),
              ElementsAre("\u30B3", "\u30FC", "\u30C9"));
}

TEST(SplitWords, LeavesMarksWithTheirCharacter) {
  EXPECT_THAT(words("\u0E17\u0E35\u0E48\u0E01\u0E34\u0E19x"),
              ElementsAre("\u0E17\u0E35\u0E48", "\u0E01\u0E34", "\u0E19", "x"));
}

TEST(SplitWords, KeepsKoreanAndHindiWordsWhole) {
  EXPECT_THAT(words("\uD55C\uAD6D \u0939\u093F\u0928\u094D\u0926\u0940"),
              ElementsAre("\uD55C\uAD6D", "\u0939\u093F\u0928\u094D\u0926\u0940"));
}

TEST(SplitWords, OfNormalisedTextAgreesWithTheReference) {
  const std::string text = "E\u0301tude \u2013 \u6211\u7231\u0E17\u0E35\u0E48 \uFB01ne\u0300!";
  for (const auto preset : {Normalization::kNone, Normalization::kLight, Normalization::kStandard,
                            Normalization::kAggressive}) {
    std::string normalised;
    normalize(text, preset, normalised);
    const auto expected = words_reference(text, preset);
    EXPECT_THAT(words(normalised, preset), ::testing::ElementsAreArray(expected));
  }
}

TEST(WordSpacer, ReturnsAsciiItself) {
  WordSpacer spacer(Normalization::kStandard);
  const std::string text = "Plain, old text.";
  EXPECT_EQ(spacer.space(text).data(), text.data());
}

TEST(WordSpacer, LeavesOnlyWordCharactersAboveAscii) {
  WordSpacer spacer(Normalization::kStandard);
  EXPECT_EQ(spacer.space("A\u201CB\u201D \u00C9"), "A B  \u00E9");
  EXPECT_EQ(spacer.space("E\u0301 \u2013"), "\u00E9  ");
}

TEST(WordSpacer, IsolatesCharactersOfScriptsWithoutSpaces) {
  WordSpacer spacer(Normalization::kStandard);
  EXPECT_EQ(spacer.space("a\u6211\u7231b\u0E17\u0E35\u3002\u00E9"),
            "a \u6211 \u7231 b \u0E17\u0E35 \u00E9");
}

}  // namespace
}  // namespace kin::text
