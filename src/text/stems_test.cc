#include "text/stems.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kin::text {
namespace {

TEST(Stemmer, BringsTheFormsOfAWordTogether) {
  Stemmer english = *Stemmer::create("english");
  const std::string stem(english.stem("connections"));
  EXPECT_EQ(stem, "connect");
  EXPECT_EQ(english.stem("connected"), stem);
}

TEST(Stemmer, KnowsLanguagesByNameAndByCode) {
  EXPECT_EQ(Stemmer::create("de")->stem("häuser"), Stemmer::create("german")->stem("haus"));
  EXPECT_THAT(stem_languages(), testing::Contains("finnish"));
}

TEST(Stemmer, LeavesWordsAloneIfAsked) {
  Stemmer none = *Stemmer::create("none");
  EXPECT_TRUE(none.leaves_words_alone());
  EXPECT_EQ(none.stem("connections"), "connections");
}

TEST(Stemmer, SaysWhichLanguagesThereAre) {
  const auto klingon = Stemmer::create("klingon");
  ASSERT_FALSE(klingon.ok());
  EXPECT_THAT(klingon.error().message, testing::HasSubstr("swedish"));
}

TEST(Stemmer, BearsBytesThatAreNoText) {
  Stemmer english = *Stemmer::create("english");
  EXPECT_EQ(english.stem(""), "");
  EXPECT_FALSE(english.stem("\xff\xfe").empty());
  EXPECT_EQ(english.stem(std::string(1000, 's')).size(), 1000U);
}

}  // namespace
}  // namespace kin::text
