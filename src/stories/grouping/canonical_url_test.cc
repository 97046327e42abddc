#include "stories/grouping/canonical_url.h"

#include <gtest/gtest.h>

namespace kin::stories {
namespace {

TEST(CanonicalUrl, DropsSchemeWwwTrackingAndFragment) {
  EXPECT_EQ(canonical_url("https://www.example.com/a/?utm_source=x&fbclid=1#top"), "example.com/a");
  EXPECT_EQ(canonical_url("http://example.com/a"), "example.com/a");
  EXPECT_EQ(canonical_url("HTTP://EXAMPLE.com:80/a/"), "example.com/a");
}

TEST(CanonicalUrl, KeepsParametersThatNameThePageAndSortsThem) {
  EXPECT_EQ(canonical_url("https://example.com/story?id=7&page=2&UTM_Medium=rss"),
            "example.com/story?id=7&page=2");
  EXPECT_EQ(canonical_url("https://example.com/story?page=2&id=7"),
            canonical_url("https://example.com/story?id=7&page=2"));
  EXPECT_NE(canonical_url("https://example.com/story?id=7"),
            canonical_url("https://example.com/story?id=8"));
}

TEST(CanonicalUrl, TakesAmpPagesForThePagesTheyCopy) {
  const std::string page = canonical_url("https://example.com/news/river");
  EXPECT_EQ(canonical_url("https://amp.example.com/news/river"), page);
  EXPECT_EQ(canonical_url("https://example.com/amp/news/river"), page);
  EXPECT_EQ(canonical_url("https://example.com/news/river/amp/"), page);
  EXPECT_EQ(canonical_url("https://www.google.com/amp/s/example.com/news/river/amp"), page);
  EXPECT_EQ(canonical_url("https://example-com.cdn.ampproject.org/c/s/example.com/news/river"),
            page);
  EXPECT_EQ(canonical_url("https://example.com/news/river.amp.html"),
            "example.com/news/river.html");
}

TEST(CanonicalUrl, WritesEachAddressInOneWay) {
  EXPECT_EQ(canonical_url("https://example.com/%7euser/a%2fb/../c d"), "example.com/~user/c%20d");
  EXPECT_EQ(canonical_url("https://example.com//a/./b/index.html"), "example.com/a/b");
  EXPECT_EQ(canonical_url("https://user:secret@m.example.com/a"), "example.com/a");
}

TEST(CanonicalUrl, KeepsHostsThatAreNothingButAPrefix) {
  EXPECT_EQ(canonical_url("https://www.com/a"), "www.com/a");
  EXPECT_EQ(canonical_url("https://m.co/a"), "m.co/a");
}

TEST(CanonicalUrl, KnowsNoPageWithoutAWebAddress) {
  EXPECT_EQ(canonical_url(""), "");
  EXPECT_EQ(canonical_url("mailto:news@example.com"), "");
  EXPECT_EQ(canonical_url("javascript:alert(1)"), "");
  EXPECT_EQ(canonical_url("https://"), "");
  EXPECT_EQ(canonical_url("https:///path"), "");
}

}  // namespace
}  // namespace kin::stories
