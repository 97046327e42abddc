#include "stories/feeds/page_links.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kin::stories {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

net::Url page(std::string_view address = "https://example.com/blog/post.html") {
  return net::Url::parse(address).value();
}

TEST(PageLinks, FindsTheFeedsOfAPage) {
  const PageLinks links =
      find_page_links(R"html(<!doctype html><html><head><title>My &amp; site</title>
    <link rel="alternate" type="application/rss+xml" title="Comments on it" href="/comments/feed">
    <LINK REL='Alternate home' TYPE='application/ATOM+xml; charset=utf-8' TITLE='Posts &lt;all&gt;' HREF=atom.xml>
    <link rel=alternate type=application/feed+json href=//cdn.example.com/feed.json>
    <link rel="alternate" type="application/rss+xml" href="/comments/feed">
    <link rel="alternate" hreflang="de" href="/de/">
    <link rel="stylesheet" type="application/rss+xml" href="/x.css">
    <!-- <link rel="alternate" type="application/rss+xml" href="/hidden"> -->
    <script>var s = '<link rel="alternate" type="application/rss+xml" href="/script">';</script>
    <link rel="alternate" type="application/rss+xml" href="javascript:alert(1)">)html",
                      page());
  EXPECT_THAT(links.feeds,
              ElementsAre(FeedLink{"https://example.com/blog/atom.xml", "Posts <all>"},
                          FeedLink{"https://cdn.example.com/feed.json", ""},
                          FeedLink{"https://example.com/comments/feed", "Comments on it"}));
}

TEST(PageLinks, HonoursTheFirstBase) {
  const PageLinks links = find_page_links(
      "<base href='https://other.example/x/'><base href='/no/'>"
      "<link rel=alternate type=application/rss+xml href=rss>",
      page());
  EXPECT_THAT(links.feeds, ElementsAre(FeedLink{"https://other.example/x/rss", ""}));
}

TEST(PageLinks, PutsTheBestSmallIconFirst) {
  const PageLinks links = find_page_links(
      "<link rel='shortcut icon' href=/favicon.ico>"
      "<link rel=icon sizes=16x16 href=/16.png><link rel=icon sizes=512x512 href=/512.png>"
      "<link rel=apple-touch-icon sizes=180x180 href=/180.png><link rel=icon sizes=32x32 "
      "href=/32.png>"
      "<link rel=mask-icon href=/mask.svg><link rel=icon href='data:image/png;base64,AAAA'>",
      page());
  EXPECT_THAT(links.icons, ElementsAre(IconLink{"https://example.com/32.png", 32},
                                       IconLink{"https://example.com/180.png", 180},
                                       IconLink{"https://example.com/favicon.ico", 0},
                                       IconLink{"https://example.com/512.png", 512},
                                       IconLink{"https://example.com/16.png", 16}));
}

TEST(PageLinks, AreNoneInAPageWithoutLinks) {
  const PageLinks links = find_page_links("<p>hello", page());
  EXPECT_THAT(links.feeds, IsEmpty());
  EXPECT_THAT(links.icons, IsEmpty());
}

TEST(PageLinks, AreNotWithoutNumber) {
  std::string html;
  for (int i = 0; i < 10'000; ++i)
    html += "<link rel='alternate icon' type=application/rss+xml href=/" + std::to_string(i) + ">";
  EXPECT_EQ(find_page_links(html, page()).feeds.size(), 50u);
  EXPECT_EQ(find_page_links(html, page()).icons.size(), 50u);
}

TEST(CommonFeedAddresses, TryTheFolderThenTheSite) {
  const auto found = common_feed_addresses(page());
  EXPECT_EQ(found.front(), "https://example.com/blog/feed");
  EXPECT_THAT(found, ::testing::Contains("https://example.com/rss.xml"));
  EXPECT_EQ(common_feed_addresses(page("https://example.com")).front(), "https://example.com/feed");
}

}  // namespace
}  // namespace kin::stories
