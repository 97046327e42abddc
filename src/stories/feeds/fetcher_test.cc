#include "stories/feeds/fetcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/source_folder.h"
#include "net/testing/test_server.h"
#include "stories/feeds/favicon.h"
#include "stories/feeds/finder.h"
#include "stories/testing/feed_fixture.h"

namespace kin::stories {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace std::chrono_literals;
using Outcome = Poll::Outcome;

net::HttpOptions loopback_options() {
  return {.user_agent = "KindredTest/1",
          .addresses = {.allowed = {net::Network::parse("127.0.0.1").value()}},
          .budgets = {.connect = 1min, .total = 1min, .slowest = 100, .slowest_for = 1min},
          .transfers_per_host = 8};
}

class FeedFetcherTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { server = new net::TestServer(source_folder()); }
  static void TearDownTestSuite() { delete server; }

  std::string url(const std::string& path) { return server->url(path); }
  Poll poll(const Subscription& subscription, Time now = kNow) {
    return fetcher_.poll(subscription, {.now = now, .seed = 1});
  }
  Poll poll_path(const std::string& path) { return poll({.url = url(path)}); }

  static net::TestServer* server;
  net::HttpClient client_{loopback_options()};
  FeedFetcher fetcher_{client_};
};

net::TestServer* FeedFetcherTest::server = nullptr;

TEST_F(FeedFetcherTest, GetsEveryFormatInEveryCharset) {
  const std::pair<const char*, FeedFormat> cases[] = {
      {"rss20.xml", FeedFormat::kRss20},         {"rss091.xml", FeedFormat::kRss09},
      {"rss090.xml", FeedFormat::kRss09},        {"rss10.xml", FeedFormat::kRss10},
      {"atom.xml", FeedFormat::kAtom},           {"feed.json", FeedFormat::kJsonFeed},
      {"charset_sjis.xml", FeedFormat::kRss20},  {"charset_koi8r.xml", FeedFormat::kRss20},
      {"charset_utf16.xml", FeedFormat::kRss20}, {"broken.xml", FeedFormat::kRss20},
      {"bomb.xml", FeedFormat::kRss20},          {"xss.xml", FeedFormat::kRss20},
  };
  for (const auto& [name, format] : cases) {
    const Poll polled = poll_path(std::string("/file/") + name);
    ASSERT_EQ(polled.outcome, Outcome::kItems) << name << ": " << polled.error.message;
    EXPECT_EQ(polled.feed.format, format) << name;
    EXPECT_FALSE(polled.feed.items.empty()) << name;
    EXPECT_GE(polled.next_poll, kNow + 5min) << name;
    EXPECT_LE(polled.next_poll, kNow + 24h) << name;
  }
}

TEST_F(FeedFetcherTest, BelievesTheCharsetOfTheHeader) {
  const Poll polled = poll_path("/type/text_xml;charset=utf-8/charset_wrong_utf8.xml");
  EXPECT_EQ(polled.feed.title, "Zürich");
}

TEST_F(FeedFetcherTest, AsksConditionallyTheSecondTime) {
  for (const char* path : {"/etag", "/modified"}) {
    const Poll first = poll_path(path);
    ASSERT_EQ(first.outcome, Outcome::kItems) << path;
    EXPECT_EQ(first.status, 200);
    const Poll second = poll(first.next, first.next_poll);
    EXPECT_EQ(second.outcome, Outcome::kNotModified) << path;
    EXPECT_EQ(second.status, 304) << path;
    EXPECT_EQ(second.next.etag, first.next.etag);
    EXPECT_EQ(second.next.last_modified, first.next.last_modified);
  }
}

TEST_F(FeedFetcherTest, SeesThatNothingChangedWhereTheServerDoesNot) {
  const Poll first = poll_path("/file/rss20.xml");
  ASSERT_EQ(first.outcome, Outcome::kItems);
  const Poll second = poll(first.next, first.next_poll);
  EXPECT_EQ(second.status, 200);
  EXPECT_EQ(second.outcome, Outcome::kNotModified);
  const Poll one = poll_path("/versions/changing");
  const Poll two = poll(one.next, one.next_poll);
  EXPECT_EQ(two.outcome, Outcome::kItems);
  EXPECT_EQ(two.feed.items[0].title, "Version 2");
}

TEST_F(FeedFetcherTest, WaitsAsLongAsTheAnswerStaysFresh) {
  EXPECT_GE(poll_path("/etag").next_poll, kNow + 30min);
}

TEST_F(FeedFetcherTest, RemembersWhereAFeedMovedForGood) {
  const Poll moved = poll_path("/redirect/301/redirect/308/file/atom.xml");
  ASSERT_EQ(moved.outcome, Outcome::kItems);
  EXPECT_EQ(moved.moved_to, url("/file/atom.xml"));
  EXPECT_EQ(moved.next.url, url("/file/atom.xml"));
  const Poll for_now = poll_path("/redirect/302/file/atom.xml");
  EXPECT_EQ(for_now.moved_to, std::nullopt);
  EXPECT_EQ(for_now.next.url, url("/redirect/302/file/atom.xml"));
}

TEST_F(FeedFetcherTest, DoesNotMoveToWhatIsNoFeed) {
  for (const char* target : {"file/page.html", "status/404", "status/500", "closed"}) {
    const Poll moved = poll_path("/redirect/301/" + std::string(target));
    EXPECT_EQ(moved.outcome, Outcome::kFailed) << target;
    EXPECT_EQ(moved.moved_to, std::nullopt) << target;
    EXPECT_EQ(moved.next.url, url("/redirect/301/" + std::string(target)));
  }
}

TEST_F(FeedFetcherTest, LeavesCredentialsBehindWhenAFeedMovesElsewhere) {
  net::TestServer other(source_folder());
  const net::Credentials secret{.kind = net::Credentials::Kind::kBearer, .user = {}, .secret = "t"};
  const Poll away = poll({.url = url("/redirect/301/" + net::quoted(other.url("/file/atom.xml"))),
                          .credentials = secret});
  ASSERT_EQ(away.outcome, Outcome::kItems);
  EXPECT_EQ(away.next.credentials.kind, net::Credentials::Kind::kNone);
  const Poll within = poll({.url = url("/redirect/301/file/atom.xml"), .credentials = secret});
  EXPECT_EQ(within.next.credentials.kind, net::Credentials::Kind::kBearer);
}

TEST_F(FeedFetcherTest, KnowsAFeedThatIsGone) {
  EXPECT_EQ(poll_path("/status/410").outcome, Outcome::kGone);
}

TEST_F(FeedFetcherTest, BacksOffAfterFailures) {
  Subscription subscription{.url = url("/status/503")};
  Time last_wait{};
  for (int i = 1; i <= 6; ++i) {
    const Poll failed = poll(subscription);
    EXPECT_EQ(failed.outcome, Outcome::kFailed);
    EXPECT_THAT(failed.error.message, HasSubstr("503"));
    EXPECT_EQ(failed.next.pace.failures, i);
    EXPECT_GT(failed.next_poll, last_wait);
    last_wait = failed.next_poll;
    subscription = failed.next;
  }
  EXPECT_GT(last_wait, kNow + 1h);
}

TEST_F(FeedFetcherTest, WaitsAsLongAsABusyServerAsks) {
  EXPECT_GE(poll_path("/status/429?retry=7200").next_poll, kNow + 2h);
  EXPECT_GE(poll_path("/status/503?retry=Wed,%2006%20Mar%202024%2005:00:00%20GMT").next_poll,
            kNow + 5h);
  EXPECT_LE(poll_path("/status/429?retry=99999999999999999999").next_poll, kNow + 24h);
}

TEST_F(FeedFetcherTest, SaysInPlainWordsWhatIsWrong) {
  const std::pair<const char*, const char*> cases[] = {
      {"/status/401", "asks for a user name and password"},
      {"/status/403", "denies access"},
      {"/status/404", "no feed at this address"},
      {"/status/429", "too often"},
      {"/bomb", "unpacks to more than"},
      {"/endless", "longer than 16 MiB"},
      {"/closed", "closed the connection"},
      {"/loop", "redirects"},
      {"/damaged-gzip", "cannot be unpacked"},
      {"/file/icon.png", "no tags"},
  };
  for (const auto& [path, words] : cases) {
    const Poll polled = poll_path(path);
    EXPECT_EQ(polled.outcome, Outcome::kFailed) << path;
    EXPECT_THAT(polled.error.message, HasSubstr(words)) << path;
    EXPECT_GE(polled.next_poll, kNow + 5min) << path;
  }
}

TEST_F(FeedFetcherTest, SaysThatAServerIsSlow) {
  net::HttpOptions options = loopback_options();
  options.budgets.slowest_for = 1s;
  net::HttpClient impatient(options);
  const Poll polled = FeedFetcher(impatient).poll({.url = url("/slow")}, {.now = kNow, .seed = 1});
  EXPECT_EQ(polled.outcome, Outcome::kFailed);
  EXPECT_THAT(polled.error.message, HasSubstr("too slow"));
}

TEST_F(FeedFetcherTest, SaysThatAPageIsNoFeed) {
  const Poll polled = poll_path("/file/page.html");
  EXPECT_EQ(polled.outcome, Outcome::kFailed);
  EXPECT_THAT(polled.error.message, HasSubstr("a web page"));
}

TEST_F(FeedFetcherTest, RefusesFeedsOnThisMachineUnlessAllowed) {
  net::HttpClient strict(net::HttpOptions{});
  const Poll polled = FeedFetcher(strict).poll({.url = url("/etag")}, {.now = kNow, .seed = 1});
  EXPECT_EQ(polled.outcome, Outcome::kFailed);
  EXPECT_THAT(polled.error.message, HasSubstr("a loopback address"));
}

TEST_F(FeedFetcherTest, PollsManyAndReportsEachOnce) {
  std::vector<Subscription> all;
  for (const char* path : {"/file/rss20.xml", "/status/410", "/closed", "/file/atom.xml"})
    all.push_back({.url = url(path)});
  std::vector<Outcome> outcomes(all.size(), Outcome::kNotModified);
  fetcher_.poll_all(all, {.now = kNow, .seed = 1},
                    [&](std::size_t i, const Poll& polled) { outcomes[i] = polled.outcome; });
  EXPECT_THAT(outcomes,
              ElementsAre(Outcome::kItems, Outcome::kGone, Outcome::kFailed, Outcome::kItems));
}

TEST_F(FeedFetcherTest, FindsFeedsFromASitesAddress) {
  const FindOptions options{.now = kNow};
  const auto itself = find_feeds(client_, url("/redirect/301/file/rss20.xml"), options);
  EXPECT_THAT(*itself, ElementsAre(FeedLink{url("/file/rss20.xml"), "Ridge & Valley News"}));
  const auto named = find_feeds(client_, url("/file/page.html"), options);
  EXPECT_THAT(*named, ElementsAre(FeedLink{url("/file/rss20.xml"), "Its news"},
                                  FeedLink{url("/file/atom.xml"), "Its notes"}));
  const auto common = find_feeds(client_, url("/file/plain.html"), options);
  ASSERT_TRUE(common.ok()) << common.error().message;
  EXPECT_THAT(*common, ::testing::Contains(FeedLink{url("/feed"), "Ridge & Valley News"}));
  const auto without_scheme = find_feeds(
      client_, "127.0.0.1:" + std::to_string(server->port()) + "/file/atom.xml", options);
  EXPECT_THAT(*without_scheme, ElementsAre(FeedLink{url("/file/atom.xml"), "Atom & more"}));
  EXPECT_EQ(find_feeds(client_, url("/status/404"), options).error().code, Code::kNotFound);
}

TEST_F(FeedFetcherTest, FindsAnIconThatIsAPicture) {
  const auto icon = find_favicon(client_, url("/file/page.html"));
  ASSERT_TRUE(icon.ok() && icon->has_value());
  EXPECT_EQ((*icon)->url, url("/file/icon.png"));
  EXPECT_EQ(content_type((*icon)->type), "image/png");
  const auto common = find_favicon(client_, url("/file/plain.html"));
  ASSERT_TRUE(common.ok() && common->has_value());
  EXPECT_EQ((*common)->type, ImageType::kIco);
  EXPECT_FALSE(find_favicon(client_, "nonsense").ok());
}

TEST_F(FeedFetcherTest, FindsNoIconWhereIsNone) {
  net::HttpClient strict(net::HttpOptions{});
  const auto icon = find_favicon(strict, url("/file/page.html"));
  ASSERT_TRUE(icon.ok());
  EXPECT_FALSE(icon->has_value());
}

TEST(SniffImage, KnowsPicturesByTheirBytes) {
  const std::string png = feed_file(source_folder(), "icon.png");
  EXPECT_EQ(sniff_image(png), ImageType::kPng);
  EXPECT_EQ(sniff_image(feed_file(source_folder(), "icon.ico")), ImageType::kIco);
  EXPECT_EQ(sniff_image(std::string("GIF89a\x10\0\x10\0", 10)), ImageType::kGif);
  EXPECT_EQ(sniff_image(std::string("\xFF\xD8\xFF\xC0\0\x11\x08\0\x10\0\x10\x03", 12)),
            ImageType::kJpeg);
  EXPECT_EQ(sniff_image("RIFF1234WEBPVP8 "), ImageType::kWebp);
  std::string huge = png;
  huge[17] = '\x7F';
  EXPECT_EQ(sniff_image(huge), std::nullopt);
  for (const std::string& none :
       {feed_file(source_folder(), "icon.svg"), feed_file(source_folder(), "fake.png"),
        png.substr(0, 20), std::string(), std::string("BM"), std::string("\xFF\xD8\xFF\xE0\0", 5)})
    EXPECT_EQ(sniff_image(none), std::nullopt);
}

}  // namespace
}  // namespace kin::stories
