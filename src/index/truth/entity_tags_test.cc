#include "index/truth/entity_tags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kin::index {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Hashtags, AreFoundWhereverATextMayHaveThem) {
  EXPECT_THAT(hashtags("#one two #Three_3, (#four-five)! #six."),
              ElementsAre("one", "Three_3", "four-five", "six"));
  EXPECT_THAT(hashtags("…#élan #日本語 and #Straße"), ElementsAre("élan", "日本語", "Straße"));
}

TEST(Hashtags, AreNotFoundInsideWordsAddressesAndNumbers) {
  EXPECT_THAT(hashtags("a#b http://x.y/#anchor &#39; #1 # ## #! é#x C#"), IsEmpty());
  EXPECT_THAT(hashtags(""), IsEmpty());
}

TEST(Hashtags, EndAtADashThatNothingFollows) {
  EXPECT_THAT(hashtags("#end- #-begin #a--b"), ElementsAre("end", "a"));
}

TEST(Hashtags, AreTakenOnceWhateverTheirCase) {
  EXPECT_THAT(hashtags("#News #news #NEWS #Élan #élan"), ElementsAre("News", "Élan"));
}

TEST(Tags, GivenOnesComeFirstAndKeepTheirSpelling) {
  EXPECT_THAT(all_tags({"Open Source", "news", "News", ""}, "#NEWS #more"),
              ElementsAre("Open Source", "news", "more"));
}

TEST(Tags, AreTheSameInEitherCaseAndForm) {
  EXPECT_EQ(tag_key("Élan VITAL"), tag_key("e\u0301lan vital"));
  EXPECT_EQ(tag_key("C++"), "c++");
  EXPECT_NE(tag_key("c"), tag_key("c++"));
  EXPECT_EQ(tag_key("ÄÖ-Ü"), "äö-ü");
}

}  // namespace
}  // namespace kin::index
