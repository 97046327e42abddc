#include "text/stop_words.h"

#include <gtest/gtest.h>

namespace kin::text {
namespace {

TEST(StopWords, AreThoseOfALanguage) {
  EXPECT_TRUE(is_stop_word("the", "english"));
  EXPECT_FALSE(is_stop_word("die", "english"));
  EXPECT_TRUE(is_stop_word("die", "german"));
  EXPECT_TRUE(is_stop_word("это", "russian"));
  EXPECT_FALSE(is_stop_word("the", "klingon"));
  EXPECT_FALSE(is_stop_word("", "english"));
}

TEST(StopWords, LeaveTheOtherWordsOfAText) {
  EXPECT_EQ(without_stop_words("The tides of the Moon", "english"), "tides moon");
  EXPECT_EQ(without_stop_words("To be, of the", "english"), "");
  EXPECT_EQ(without_stop_words("Für die Über-Fahrt", "german"), "über fahrt");
}

}  // namespace
}  // namespace kin::text
