#include "stories/opml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kin::stories {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Opml, IsReadWithItsFolders) {
  const std::string text = R"xml(<?xml version="1.0" encoding="ISO-8859-1"?>
    <opml version="1.1"><head><title>My feeds</title></head><body>
      <outline text="Loose" xmlUrl="https://loose.example/feed" htmlUrl="https://loose.example"/>
      <outline text="Tech &amp; more" title="Tech">
        <outline text="Caf@" TITLE="" type="rss" XMLURL="http://cafe.example/rss"/>
        <outline text="Deep"><outline text="D" xmlurl="feed://deep.example/x"/></outline>
      </outline>
      <outline text="Bad" xmlUrl="javascript:alert(1)" htmlUrl="javascript:alert(2)"/>
      <outline text="A note"/>
    </body></opml>)xml";
  std::string latin1 = text;
  latin1[latin1.find('@')] = '\xE9';
  const auto opml = parse_opml(latin1);
  ASSERT_TRUE(opml.ok());
  EXPECT_EQ(opml->title, "My feeds");
  EXPECT_EQ(opml->left_out, 1u);
  const OpmlFeed loose{"https://loose.example/feed", "Loose", "https://loose.example/", {}};
  const OpmlFeed cafe{"http://cafe.example/rss", "Café", "", {"Tech"}};
  const OpmlFeed deep{"https://deep.example/x", "D", "", {"Tech", "Deep"}};
  EXPECT_THAT(opml->feeds, ElementsAre(loose, cafe, deep));
}

TEST(Opml, IsReadBackAsItWasWritten) {
  const Opml opml{.title = "Mine & \"yours\"",
                  .feeds = {{"https://a.example/?x=1&y=2", "A <b> & 'c'", "https://a.example/", {}},
                            {"https://b.example/", "B", "", {"One", "Two"}},
                            {"https://c.example/", "ニュース", "", {"One"}},
                            {"https://b.example/", "B", "", {"Other"}}}};
  const std::string text = write_opml(opml);
  const auto again = parse_opml(text);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->title, opml.title);
  EXPECT_EQ(again->feeds, opml.feeds);
  EXPECT_EQ(again->left_out, 0u);
  EXPECT_THAT(text, HasSubstr("<opml version=\"2.0\">"));
}

TEST(Opml, KeepsFeedsOfOneFolderTogether) {
  const Opml opml{.title = "",
                  .feeds = {{"https://a.example/", "A", "", {"F"}},
                            {"https://b.example/", "B", "", {}},
                            {"https://c.example/", "C", "", {"F"}}}};
  const auto again = parse_opml(write_opml(opml));
  ASSERT_EQ(again->feeds.size(), 3u);
  EXPECT_EQ(again->feeds[1].title, "C");
}

TEST(Opml, IsMendedWhereItIsBroken) {
  const auto opml = parse_opml(
      "<opml><body><outline text='A & B' xmlUrl='https://a.example/?a&b'><outline text='C'"
      " xmlUrl='https://c.example/'></body>");
  ASSERT_TRUE(opml.ok()) << opml.error().message;
  EXPECT_EQ(opml->feeds.size(), 2u);
}

TEST(Opml, SaysWhatIsWrong) {
  EXPECT_THAT(parse_opml("<rss/>").error().message, HasSubstr("<rss>"));
  EXPECT_THAT(parse_opml("hello").error().message, HasSubstr("not XML"));
  EXPECT_THAT(parse_opml("<opml>\n<body></x>").error().message, HasSubstr("line 2"));
}

TEST(Opml, BoundsFoldersAndFeeds) {
  std::string text = "<opml><body>";
  for (int i = 0; i < 100; ++i) text += "<outline text='f'>";
  text += "<outline text='x' xmlUrl='https://x.example/'/>";
  for (int i = 0; i < 100; ++i) text += "</outline>";
  for (int i = 0; i < 10'005; ++i) text += "<outline xmlUrl='https://y.example/'/>";
  const auto opml = parse_opml(text + "</body></opml>");
  ASSERT_TRUE(opml.ok());
  EXPECT_EQ(opml->feeds[0].folders.size(), kDeepestFolder);
  EXPECT_EQ(opml->feeds.size(), kMostOpmlFeeds);
  EXPECT_EQ(opml->left_out, 6u);
}

}  // namespace
}  // namespace kin::stories
