#include "stories/feed_parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/source_folder.h"
#include "stories/testing/feed_fixture.h"

namespace kin::stories {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

Feed feed(const std::string& name, std::string_view address = {}) {
  const std::string bytes = feed_file(source_folder(), name);
  EXPECT_FALSE(bytes.empty()) << name;
  auto parsed = parse_at(bytes, address);
  EXPECT_TRUE(parsed.ok()) << name << ": " << (parsed.ok() ? "" : parsed.error().message);
  return parsed.ok() ? *parsed : Feed{};
}

FeedItem item_with(std::string_view fields) {
  const auto parsed = parse_at(rss_with(fields));
  EXPECT_TRUE(parsed.ok() && parsed->items.size() == 1) << fields;
  return parsed.ok() && !parsed->items.empty() ? parsed->items[0] : FeedItem{};
}

std::string date_of(const FeedItem& item) {
  return item.published ? format_date(*item.published) : "none";
}

TEST(FeedParser, ReadsRss20) {
  const Feed f = feed("rss20.xml");
  EXPECT_EQ(f.title, "Ridge & Valley News");
  EXPECT_EQ(f.site, "https://news.example/");
  EXPECT_EQ(f.format, FeedFormat::kRss20);
  EXPECT_EQ(f.mended, "");
  ASSERT_EQ(f.items.size(), 3u);
  const FeedItem& first = f.items[0];
  EXPECT_EQ(first.guid, "urn:news:1");
  EXPECT_EQ(first.url, "https://news.example/2024/m4?utm_source=rss");
  EXPECT_EQ(first.title, "Apple announces M4 chips for Mac");
  EXPECT_EQ(first.summary, "The new chips are faster, Apple says.");
  EXPECT_EQ(date_of(first), "2024-03-05T07:05:30Z");
  EXPECT_EQ(first.author, "Ada Lovelace");
  EXPECT_EQ(first.image, "https://news.example/m4.jpg");
  const FeedItem& second = f.items[1];
  EXPECT_EQ(second.title, "Bakers & brewers strike");
  EXPECT_EQ(second.url, "https://news.example/2024/strike");
  EXPECT_EQ(second.summary, "First. Second.");
  EXPECT_EQ(second.author, "Ed Itor");
  EXPECT_EQ(second.image, "https://news.example/strike.png");
  EXPECT_EQ(date_of(second), "2024-03-04T22:00:00Z");
  const FeedItem& third = f.items[2];
  EXPECT_EQ(third.title, "A note without a title, which is allowed.");
  EXPECT_EQ(third.url, "https://news.example/notes/7");
  EXPECT_EQ(date_of(third), "2024-03-04T10:00:00Z");
}

TEST(FeedParser, ReadsTheOlderRss) {
  const Feed f091 = feed("rss091.xml");
  EXPECT_EQ(f091.format, FeedFormat::kRss09);
  ASSERT_EQ(f091.items.size(), 2u);
  EXPECT_EQ(f091.items[0].title, "A café opens – at last");
  EXPECT_EQ(f091.items[0].guid, "http://old.example/1");
  EXPECT_EQ(date_of(f091.items[0]), "none");
  const Feed f090 = feed("rss090.xml");
  EXPECT_EQ(f090.format, FeedFormat::kRss09);
  EXPECT_EQ(f090.title, "Older news");
  ASSERT_EQ(f090.items.size(), 1u);
  const Feed f10 = feed("rss10.xml");
  EXPECT_EQ(f10.format, FeedFormat::kRss10);
  ASSERT_EQ(f10.items.size(), 1u);
  EXPECT_EQ(f10.items[0].guid, "http://rdf.example/1");
  EXPECT_EQ(f10.items[0].author, "R. Lassila");
  EXPECT_EQ(f10.items[0].summary, "About something");
  EXPECT_EQ(date_of(f10.items[0]), "2024-03-05T07:05:30Z");
}

TEST(FeedParser, ReadsAtom) {
  const Feed f = feed("atom.xml", "https://atom.example/feed.atom");
  EXPECT_EQ(f.format, FeedFormat::kAtom);
  EXPECT_EQ(f.title, "Atom & more");
  EXPECT_EQ(f.site, "https://atom.example/blog/");
  ASSERT_EQ(f.items.size(), 2u);
  EXPECT_EQ(f.items[0].title, "Text with 1 < 2 and <b> kept");
  EXPECT_EQ(f.items[0].url, "https://atom.example/blog/first");
  EXPECT_EQ(f.items[0].guid, "tag:atom.example,2024:1");
  EXPECT_EQ(f.items[0].summary, "A <tag> & more");
  EXPECT_EQ(f.items[0].author, "One, Two");
  EXPECT_EQ(date_of(f.items[0]), "2024-03-05T08:00:00Z");
  EXPECT_EQ(f.items[1].title, "An XHTML title here <kept>");
  EXPECT_EQ(f.items[1].url, "https://atom.example/blog/sub/second");
  EXPECT_EQ(f.items[1].summary, "One. Two.");
  EXPECT_EQ(f.items[1].author, "Feed Author");
  EXPECT_EQ(date_of(f.items[1]), "2024-03-04T08:00:00Z");
}

TEST(FeedParser, ReadsAtomWithAPrefixAndAtom03) {
  const Feed prefixed = feed("atom_prefixed.xml");
  EXPECT_EQ(prefixed.title, "Prefixed");
  ASSERT_EQ(prefixed.items.size(), 1u);
  EXPECT_EQ(prefixed.items[0].url, "https://p.example/1");
  const Feed old = feed("atom03.xml");
  EXPECT_EQ(old.title, "Old Atom");
  ASSERT_EQ(old.items.size(), 1u);
  EXPECT_EQ(date_of(old.items[0]), "2004-03-05T07:00:00Z");
}

TEST(FeedParser, TakesTitlesOfJsonFeedsAndAtomTextAsWritten) {
  for (const char* title :
       {"Vec<T> vs Box<[T]>", "Using <template>", "<b>bold</b> &amp; plain", "AT&T", "1 < 2 > 0"}) {
    const std::string json = R"({"version":"https://jsonfeed.org/version/1.1","title":")" +
                             std::string(title) + R"(","items":[{"id":"1","title":")" + title +
                             R"("}]})";
    const auto parsed = parse_at(json);
    ASSERT_TRUE(parsed.ok()) << title;
    EXPECT_EQ(parsed->title, title);
    EXPECT_EQ(parsed->items[0].title, title);
  }
  const auto atom = [](const char* type, const char* title) {
    return "<feed xmlns='http://www.w3.org/2005/Atom'><entry><title type='" + std::string(type) +
           "'>" + title + "</title><id>1</id></entry></feed>";
  };
  EXPECT_EQ(parse_at(atom("text", "Vec&lt;T&gt; vs Box&lt;[T]&gt;"))->items[0].title,
            "Vec<T> vs Box<[T]>");
  EXPECT_EQ(parse_at(atom("html", "Using &amp;lt;template&amp;gt;"))->items[0].title,
            "Using <template>");
  EXPECT_EQ(parse_at(atom("html", "Using &lt;template&gt; &lt;i&gt;now&lt;/i&gt;"))->items[0].title,
            "Using <template> now");
}

TEST(FeedParser, ReadsJsonFeed) {
  const Feed f = feed("feed.json", "https://json.example/feed.json");
  EXPECT_EQ(f.format, FeedFormat::kJsonFeed);
  EXPECT_EQ(f.title, "JSON news");
  ASSERT_EQ(f.items.size(), 3u);
  EXPECT_EQ(f.items[0].title, "Café &amp; bar") << "plain text, as it is written";
  EXPECT_EQ(f.items[0].url, "https://json.example/posts/1");
  EXPECT_EQ(f.items[0].summary, "One two & three");
  EXPECT_EQ(f.items[0].author, "Ann, Bob");
  EXPECT_EQ(f.items[0].image, "https://json.example/1.png");
  EXPECT_EQ(f.items[1].guid, "2");
  EXPECT_EQ(f.items[1].title, "Only a note");
  EXPECT_EQ(f.items[1].url, "https://other.example/2");
  EXPECT_EQ(f.items[1].author, "Cid");
  EXPECT_EQ(f.items[2].url, "");
}

TEST(FeedParser, ReadsEveryCharset) {
  const std::pair<const char*, const char*> cases[] = {
      {"windows1251", "Новости"},
      {"koi8r", "Новости"},
      {"sjis", "ニュース速報"},
      {"eucjp", "ニュース速報"},
      {"gb2312", "新闻快讯"},
      {"big5", "新聞快訊"},
      {"euckr", "뉴스"},
      {"latin1", "Café à Zürich"},
      {"utf16", "Zürich ニュース"},
      {"utf8bom", "Zürich ニュース"},
      {"none_1252", "It’s “Zürich”"},
      {"wrong_utf8", "Zürich"},
  };
  for (const auto& [name, title] : cases) {
    const Feed f = feed("charset_" + std::string(name) + ".xml");
    EXPECT_EQ(f.title, title) << name;
    ASSERT_EQ(f.items.size(), 1u) << name;
    EXPECT_EQ(f.items[0].title, title) << name;
  }
}

TEST(FeedParser, BelievesTheHttpHeadersCharset) {
  const std::string bytes = rss_with("<title>\xCF\xF0\xE8\xE2\xE5\xF2</title>");
  const auto parsed =
      parse_feed({.bytes = bytes, .content_type = "text/xml; charset=windows-1251"});
  EXPECT_EQ(parsed->items[0].title, "Привет");
  EXPECT_EQ(parsed->charset, "windows-1251");
}

TEST(FeedParser, ReadsBrokenXmlAsFarAsItMakesSense) {
  const Feed f = feed("broken.xml");
  EXPECT_THAT(f.mended, HasSubstr("line "));
  EXPECT_EQ(f.title, "Broken & bent");
  EXPECT_EQ(f.site, "https://broken.example/?a=1&b=2");
  ASSERT_EQ(f.items.size(), 3u);
  EXPECT_EQ(f.items[0].title, "Q&A: 5 < 6");
  EXPECT_EQ(f.items[0].url, "https://broken.example/1?x=1&y=2");
  EXPECT_EQ(f.items[0].summary, "A paragraph with markup");
  EXPECT_EQ(f.items[1].title, "Unclosed item");
  EXPECT_EQ(f.items[2].title, "After it");
  EXPECT_EQ(f.items[2].image, "https://broken.example/3.png");
}

TEST(FeedParser, ReadsControlCharactersAndStrayAmpersands) {
  EXPECT_EQ(item_with("<title>a\x01\x0B"
                      "b & c &nbsp;&bogus; d</title>")
                .title,
            "a b & c &bogus; d");
  const std::string with_nul = rss_with(std::string("<title>a\0b</title>", 18));
  EXPECT_EQ(parse_at(with_nul)->items[0].title, "a b");
}

TEST(FeedParser, SkipsWhatStandsInFrontOfTheDocument) {
  const auto parsed =
      parse_at("\n\nWarning: mysql\n" + rss_with("<title>T</title>") + "<!-- 3 ms -->");
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->items[0].title, "T");
}

TEST(FeedParser, NamesTheLineAndColumnOfWhatIsBroken) {
  const auto parsed = parse_at("<?xml version='1.0'?>\n<rss>\n <channel></oops>");
  ASSERT_FALSE(parsed.ok());
  EXPECT_EQ(parsed.error().code, Code::kInvalidArgument);
  EXPECT_THAT(parsed.error().message, HasSubstr("line 3, column 13"));
}

TEST(FeedParser, SaysWhatTheBytesAreInstead) {
  const std::pair<const char*, const char*> cases[] = {
      {"<!DOCTYPE html><html><body>hi", "a web page"},
      {"<HTML><head>", "a web page"},
      {"<opml version='2.0'><body/></opml>", "<opml>"},
      {"", "empty"},
      {"  \n", "empty"},
      {"just words", "no tags"},
      {"{\"error\": \"no\"}", "not a feed"},
      {"{\"items\": [", "not valid JSON"},
      {"[1, 2]", "not a feed"},
  };
  for (const auto& [bytes, expected] : cases) {
    const auto parsed = parse_at(bytes);
    ASSERT_FALSE(parsed.ok()) << bytes;
    EXPECT_THAT(parsed.error().message, HasSubstr(expected)) << bytes;
  }
}

TEST(FeedParser, TakesAFeedWithoutItemsAsEmpty) {
  const auto parsed = parse_at("<rss version='2.0'><channel><title>New</title></channel></rss>");
  ASSERT_TRUE(parsed.ok());
  EXPECT_THAT(parsed->items, IsEmpty());
}

TEST(FeedParser, ReadsTitlesHoweverTheyAreEscaped) {
  const std::pair<const char*, const char*> cases[] = {
      {"<title>Tom &amp; Jerry</title>", "Tom & Jerry"},
      {"<title>Tom &amp;amp; Jerry</title>", "Tom & Jerry"},
      {"<title>Tom &amp;amp;amp; Jerry&amp;amp;#8217;s</title>", "Tom & Jerry’s"},
      {"<title><![CDATA[Tom &amp; <i>Jerry</i>]]></title>", "Tom & Jerry"},
      {"<title><![CDATA[Tom & Jerry]]></title>", "Tom & Jerry"},
      {"<title>&lt;b&gt;Tom&lt;/b&gt; and Jerry</title>", "Tom and Jerry"},
      {"<title>Tom <b>and</b> Jerry</title>", "Tom and Jerry"},
      {"<title>\n  Tom\n  and Jerry\n</title>", "Tom and Jerry"},
      {"<title>Is 1 &lt; 2?</title>", "Is 1 < 2?"},
      {"<title>&amp;lt;b&amp;gt;Tom&amp;lt;/b&amp;gt; and Jerry</title>", "Tom and Jerry"},
      {"<title>The &amp;lt;dialog&amp;gt; element</title>", "The <dialog> element"},
      {"<title>Part one, <![CDATA[part two]]></title>", "Part one, part two"},
      // Text that looks like markup may be the subject of the headline.
      {"<title>Vec&lt;T&gt; vs Box&lt;[T]&gt;</title>", "Vec<T> vs Box<[T]>"},
      {"<title><![CDATA[Vec<T> vs Box<[T]>]]></title>", "Vec<T> vs Box<[T]>"},
      {"<title>Using &lt;template&gt;</title>", "Using <template>"},
      {"<title>Using &lt;template&gt; and &lt;/template&gt;</title>",
       "Using <template> and </template>"},
      {"<title>How &lt;b&gt; became bold</title>", "How <b> became bold"},
      {"<title>Stop using &lt;script&gt; like this</title>", "Stop using <script> like this"},
      {"<title>What &lt;?php and &lt;!DOCTYPE&gt; mean</title>", "What <?php and <!DOCTYPE> mean"},
      {"<title>Promise&lt;Map&lt;i, b&gt;&gt;</title>", "Promise<Map<i, b>>"},
      {"<title>&lt;p&gt;Ferry stranded</title>", "Ferry stranded"},
      {"<title>Ferry &lt;a href='x'&gt;stranded</title>", "Ferry stranded"},
      {"<title>Ferry&lt;br&gt;stranded</title>", "Ferry stranded"},
      {"<title>A &lt;em&gt;very&lt;/em&gt; long &lt;T&gt; day</title>", "A very long <T> day"},
  };
  for (const auto& [fields, title] : cases) EXPECT_EQ(item_with(fields).title, title) << fields;
}

TEST(FeedParser, ExpandsNoEntities) {
  const Feed f = feed("bomb.xml");
  ASSERT_EQ(f.items.size(), 1u);
  EXPECT_EQ(f.title, "&secret;");
  EXPECT_EQ(f.items[0].title, "&lol3; &secret;");
}

TEST(FeedParser, ExpandsNoEntitiesInMendedDocumentsEither) {
  std::string bytes = feed_file(source_folder(), "bomb.xml");
  bytes.resize(bytes.find("</channel>"));
  const auto parsed = parse_at(bytes);
  ASSERT_TRUE(parsed.ok());
  EXPECT_NE(parsed->mended, "");
  EXPECT_EQ(parsed->items[0].title, "&lol3; &secret;");
}

TEST(FeedParser, KeepsNoMarkupAndNoActiveAddresses) {
  const Feed f = feed("xss.xml");
  EXPECT_EQ(f.title, "Feed");
  EXPECT_EQ(f.site, "");
  ASSERT_EQ(f.items.size(), 3u);
  EXPECT_EQ(f.items[0].title, "Title");
  EXPECT_EQ(f.items[0].url, "");
  EXPECT_EQ(f.items[0].summary, "Text link");
  EXPECT_EQ(f.items[0].author, "Mallory");
  EXPECT_EQ(f.items[0].image, "");
  EXPECT_EQ(f.items[1].title, "shown as text");
  EXPECT_EQ(f.items[1].summary, "shown as text");
  EXPECT_EQ(f.items[1].url, "https://xss.example/%22onmouseover=%22alert(1)");
  EXPECT_EQ(f.items[2].url, "");
}

TEST(FeedParser, DatesItemsFromTheFutureNow) {
  const FeedItem item =
      item_with("<title>T</title><pubDate>Fri, 01 Jan 2100 00:00:00 GMT</pubDate>");
  EXPECT_EQ(item.published, kNow);
  EXPECT_TRUE(item.published_in_future);
  EXPECT_FALSE(item_with("<title>T</title><pubDate>5 Mar 2024</pubDate>").published_in_future);
}

TEST(FeedParser, TakesImpossibleDatesAsNone) {
  for (const char* date : {"Thu, 01 Jan 1970 00:00:00 GMT", "0001-01-01T00:00:00Z", "soon", ""}) {
    const FeedItem item = item_with("<title>T</title><pubDate>" + std::string(date) + "</pubDate>");
    EXPECT_EQ(item.published, std::nullopt) << date;
  }
}

TEST(FeedParser, GivesEveryItemAGuidOfItsOwn) {
  const auto parsed = parse_at(
      "<rss><channel><title>F</title>"
      "<item><title>A</title><guid>same</guid><link>https://f.example/a</link></item>"
      "<item><title>B</title><guid>same</guid><link>https://f.example/b</link></item>"
      "<item><title>A again</title><guid>same</guid><link>https://f.example/a</link></item>"
      "<item><title>C</title><guid>c</guid></item><item><title>C</title><guid>c</guid></item>"
      "<item><title>No guid</title><link>https://f.example/n</link></item>"
      "<item><title>Nothing but text</title></item>"
      "<item><title>Nothing but text</title></item>"
      "<item><guid>empty</guid></item></channel></rss>");
  ASSERT_TRUE(parsed.ok());
  std::vector<std::string> guids;
  for (const FeedItem& item : parsed->items) guids.push_back(item.guid);
  EXPECT_THAT(guids,
              ::testing::ElementsAre("same https://f.example/a", "same https://f.example/b", "c",
                                     "https://f.example/n", ::testing::StartsWith("hash:")));
  EXPECT_EQ(parsed->left_out, 4u);
}

TEST(FeedParser, TakesAJsonFeedThatQuotesAPage) {
  const auto feed = parse_feed({.bytes = R"({"version": "https://jsonfeed.org/version/1.1",
      "title": "<!doctype html><html>", "items": [{"id": "1", "title": "a"}]})"});
  ASSERT_TRUE(feed.ok()) << feed.error().message;
  EXPECT_EQ(feed->items.size(), 1U);
}

TEST(FeedParser, KeepsToItsLimits) {
  std::string bytes = "<rss><channel><title>F</title>";
  for (int i = 0; i < 50; ++i)
    bytes += "<item><title>Item " + std::to_string(i) + "</title></item>";
  bytes += "</channel></rss>";
  const auto few = parse_feed({.bytes = bytes, .limits = {.items = 10}});
  ASSERT_TRUE(few.ok());
  EXPECT_EQ(few->items.size(), 10u);
  EXPECT_EQ(few->left_out, 40u);
  EXPECT_FALSE(parse_feed({.bytes = bytes, .limits = {.bytes = 100}}).ok());

  const std::string huge(2'000'000, 'x');
  const FeedItem item = item_with(
      "<title>" + huge + "</title><guid>" + huge + "</guid><link>https://f.example/" + huge +
      "</link><description>" + huge + "</description><author>" + huge + "</author>");
  EXPECT_LE(item.title.size(), 500u);
  EXPECT_LE(item.summary.size(), 4'000u);
  EXPECT_LE(item.author.size(), 200u);
  EXPECT_THAT(item.guid, ::testing::StartsWith("hash:"));
  EXPECT_EQ(item.url, "");
}

TEST(FeedParser, RefusesDeepNesting) {
  std::string deep, close;
  for (int i = 0; i < 100'000; ++i) {
    deep += "<a>";
    close += "</a>";
  }
  const auto parsed =
      parse_at(rss_with("<title>T</title><description>" + deep + close + "</description>"));
  ASSERT_FALSE(parsed.ok());
  EXPECT_THAT(parsed.error().message, HasSubstr("nested"));
  EXPECT_FALSE(parse_at("{\"items\":" + std::string(100'000, '[')).ok());
}

TEST(FeedParser, RefusesTagsAndAttributesWithoutNumber) {
  std::string attributes, tags;
  for (int i = 0; i < 101; ++i) attributes += " a" + std::to_string(i) + "=''";
  for (int i = 0; i < 1'000'001; ++i) tags += "<a/>";
  const auto many_attributes = parse_at("<rss" + attributes + "><channel/></rss>");
  ASSERT_FALSE(many_attributes.ok());
  EXPECT_THAT(many_attributes.error().message, HasSubstr("more than 100 attributes"));
  const auto many_tags = parse_at(rss_with("<title>T</title>" + tags));
  ASSERT_FALSE(many_tags.ok());
  EXPECT_EQ(many_tags.error().code, Code::kResourceExhausted);
}

TEST(FeedParser, TakesTimeLinearInHostileDocuments) {
  for (const char* piece :
       {"<item>", "<!--", "<![CDATA[", "<a b='", "<!a[", "</x", "<?", "&", "<a b=c ", "<"}) {
    std::string bytes = "<rss><channel>";
    while (bytes.size() < 1'000'000) bytes += piece;
    const auto parsed = parse_at(bytes);
    EXPECT_FALSE(parsed.ok()) << piece;
  }
}

}  // namespace
}  // namespace kin::stories
