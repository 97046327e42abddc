#include "server/web_service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/manual_clock.h"
#include "base/testing/source_folder.h"
#include "data/json_value.h"
#include "net/http_client.h"
#include "server/testing/percent_encoded.h"
#include "server/testing/test_client.h"
#include "stories/feed_parser.h"
#include "stories/testing/news_fixture.h"

namespace kin::server {
namespace {

using data::JsonValue;
using stories::kNow;
using stories::NewsServer;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using namespace std::chrono_literals;

constexpr const char* kFerry = "Ferry Olympia stranded near Chania";
constexpr const char* kRescue = "Passengers of stranded ferry Olympia rescued near Chania";
constexpr const char* kTram = "Tram drivers strike in Lisbon";

JsonValue parsed(const RawAnswer& answer) {
  auto value = data::parse_json(answer.body);
  EXPECT_TRUE(value.ok()) << answer.body;
  return value.ok() ? std::move(*value) : JsonValue();
}

std::string id_in(const JsonValue& value) {
  return value.number() == nullptr ? "?" : std::to_string(static_cast<long>(*value.number()));
}

class WebServiceTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { feeds = new NewsServer(source_folder()); }
  static void TearDownTestSuite() {
    delete feeds;
    feeds = nullptr;
  }
  void SetUp() override { start(options()); }

  ServiceOptions options() {
    ServiceOptions options;
    options.folder = scratch_.path() / "news";
    options.news.http.addresses.allowed = {net::Network::parse("127.0.0.1").value()};
    options.news.http.budgets = {.connect = 1min, .total = 1min, .slowest_for = 1min};
    options.clock = &clock_;
    // The clock does not move, so a gap would never pass.
    options.refresh_gap = 0s;
    return options;
  }
  void start(ServiceOptions options) {
    auto service = WebService::start(std::move(options));
    ASSERT_TRUE(service.ok()) << service.error().message;
    service_ = std::move(*service);
  }
  TestClient client() { return TestClient(service_->port()); }
  RawAnswer ask(const std::string& request) { return client().ask(request); }
  RawAnswer get(const std::string& target) { return ask(request_text("GET", target)); }
  RawAnswer send(const char* method, const std::string& target, const std::string& body = {}) {
    return ask(json_request(method, target, body));
  }
  // Returns the feed's id.
  std::string follow(const std::string& url) {
    const RawAnswer answer = send("POST", "/api/v1/feeds", R"({"url":")" + url + R"("})");
    EXPECT_EQ(answer.status, 201) << answer.body;
    return id_in(parsed(answer)["feed"]["id"]);
  }
  // Two feeds: one story of two items, and one of one.
  void follow_some() {
    follow(feeds->publish("post", {{kFerry, kNow - 3h, "A summary."}, {kTram, kNow - 2h}}));
    follow(feeds->publish("times", {{kRescue, kNow - 1h, "A summary."}}));
  }
  std::string message_of(const RawAnswer& answer) {
    return std::string(parsed(answer)["error"]["message"].text());
  }

  static NewsServer* feeds;
  ManualClock clock_{kNow};
  TemporaryFolder scratch_ = TemporaryFolder::create().value();
  std::unique_ptr<WebService> service_;
};

NewsServer* WebServiceTest::feeds = nullptr;

TEST_F(WebServiceTest, ShowsAStoryOfTwoFeedsOnce) {
  follow_some();
  const JsonValue page = parsed(get("/api/v1/timeline"));
  ASSERT_EQ(page["stories"].items().size(), 2U);
  const JsonValue& story = page["stories"].items()[0];
  EXPECT_EQ(*story["count"].number(), 2);
  EXPECT_EQ(*story["sources"].number(), 2);
  EXPECT_EQ(story["first"].text(), "2024-03-05T21:00:00Z");
  EXPECT_EQ(story["representative"]["title"].text(), kRescue);
  EXPECT_EQ(story["representative"]["why"].text(), "story");
  EXPECT_EQ(story["representative"]["source"].text(), "times");
  EXPECT_EQ(story["others"].items()[0]["title"].text(), kFerry);
  EXPECT_EQ(*page["unread"].number(), 2);
  EXPECT_TRUE(page["next"].is_null());
  EXPECT_EQ(parsed(get("/api/v1/stories/" + id_in(story["id"]) +
                       "?feed=1"))["story"]["representative"]["title"]
                .text(),
            kFerry);
  const JsonValue one = parsed(get("/api/v1/stories/" + id_in(story["id"])));
  EXPECT_EQ(one["story"]["others"].items().size(), 1U);
}

TEST_F(WebServiceTest, PagesFiltersAndSearches) {
  follow_some();
  const JsonValue first = parsed(get("/api/v1/timeline?limit=1"));
  ASSERT_EQ(first["stories"].items().size(), 1U);
  const JsonValue second =
      parsed(get("/api/v1/timeline?limit=1&before=" + percent_encoded(first["next"].text())));
  EXPECT_EQ(second["stories"].items()[0]["representative"]["title"].text(), kTram);
  EXPECT_EQ(parsed(get("/api/v1/timeline?q=lisb"))["stories"].items().size(), 1U);
  EXPECT_EQ(parsed(get("/api/v1/timeline?feed=2"))["stories"].items().size(), 1U);
  EXPECT_EQ(parsed(get("/api/v1/timeline?starred=1"))["stories"].items().size(), 0U);
  EXPECT_EQ(parsed(get("/api/v1/timeline?unread=1"))["stories"].items().size(), 2U);
}

TEST_F(WebServiceTest, SaysWhatIsWrongWithARequest) {
  const auto wrong = [&](const std::string& body) {
    const RawAnswer answer = send("POST", "/api/v1/feeds", body);
    EXPECT_EQ(answer.status, 400) << body;
    return message_of(answer);
  };
  EXPECT_EQ(wrong("{}"), "field \"url\" is missing");
  EXPECT_EQ(wrong(R"({"url":7})"), "field \"url\" must be a string");
  EXPECT_EQ(wrong(R"({"url":"https://a.example/","ttle":"x"})"),
            "field \"ttle\" is not known here");
  EXPECT_EQ(wrong(R"({"url":"a","url":"b"})"), "field \"url\" is given twice");
  EXPECT_EQ(wrong(R"({"url":"a","grouped":"yes"})"), "field \"grouped\" must be true or false");
  EXPECT_THAT(wrong(R"({"url":"a","credentials":{"user":"u"}})"), HasSubstr("\"password\""));
  EXPECT_EQ(wrong(R"({"url":"a","credentials":{"token":"t","pin":"1"}})"),
            "field \"credentials.pin\" is not known here");
  EXPECT_THAT(wrong("{nonsense"), HasSubstr("not JSON"));
  EXPECT_THAT(wrong("[1]"), HasSubstr("not a JSON object"));
  for (const char* query :
       {"limit=0", "limit=201", "limit=x", "feed=0", "unread=maybe", "unred=1", "before=x"})
    EXPECT_EQ(get(std::string("/api/v1/timeline?") + query).status, 400) << query;
  EXPECT_EQ(send("POST", "/api/v1/stories/1/unite", R"({"with":0})").status, 400);
  EXPECT_EQ(send("POST", "/api/v1/stories/1/unite", R"({"with":1.5})").status, 400);
}

TEST_F(WebServiceTest, SaysThatSomethingIsNotThere) {
  for (const char* target :
       {"/api/v1/feeds/9", "/api/v1/feeds/9/icon", "/api/v1/stories/9", "/api/v1/timeline?feed=9",
        "/api/v1/nothing", "/nothing", "/assets/no.js", "/api", "/story/x"})
    EXPECT_EQ(get(target).status, 404) << target;
  EXPECT_EQ(send("PATCH", "/api/v1/stories/9", R"({"read":true})").status, 404);
  EXPECT_EQ(send("POST", "/api/v1/items/9/separate").status, 404);
  EXPECT_EQ(send("POST", "/api/v1/feeds/9/refresh").status, 404);
  EXPECT_EQ(send("DELETE", "/api/v1/feeds/9").status, 404);
  EXPECT_EQ(send("PUT", "/api/v1/feeds/9").status, 405);
}

TEST_F(WebServiceTest, FollowsAFeedOnlyOnceAndSaysWhatItsServerDid) {
  const std::string url = feeds->publish("once", {{kTram, kNow - 1h}});
  follow(url);
  EXPECT_EQ(send("POST", "/api/v1/feeds", R"({"url":")" + url + R"("})").status, 409);
  const RawAnswer failed =
      send("POST", "/api/v1/feeds", R"({"url":")" + feeds->url("/status/500") + R"("})");
  EXPECT_EQ(failed.status, 502) << failed.body;
  EXPECT_EQ(parsed(failed)["error"]["code"].text(), "unavailable");
}

TEST_F(WebServiceTest, ChangesFeeds) {
  const std::string id = follow(feeds->publish("edited", {{kTram, kNow - 1h}}));
  const JsonValue edited = parsed(send("PATCH", "/api/v1/feeds/" + id,
                                       R"({"title":"Mine","folder":"News/Sea","grouped":false})"));
  EXPECT_EQ(edited["feed"]["title"].text(), "Mine");
  EXPECT_EQ(edited["feed"]["folder"].text(), "News/Sea");
  EXPECT_FALSE(*edited["feed"]["grouped"].boolean());
  EXPECT_EQ(parsed(get("/api/v1/timeline?folder=News"))["stories"].items().size(), 1U);
  EXPECT_EQ(ask(request_text("DELETE", "/api/v1/feeds/" + id)).status, 204);
  EXPECT_EQ(parsed(get("/api/v1/feeds"))["feeds"].items().size(), 0U);
}

TEST_F(WebServiceTest, MarksStoriesAndObeysCorrections) {
  follow_some();
  const JsonValue page = parsed(get("/api/v1/timeline"));
  const std::string ferry = id_in(page["stories"].items()[0]["id"]);
  const std::string tram = id_in(page["stories"].items()[1]["id"]);
  const JsonValue marked =
      parsed(send("PATCH", "/api/v1/stories/" + ferry, R"({"read":true,"starred":true})"));
  EXPECT_TRUE(*marked["story"]["read"].boolean());
  EXPECT_TRUE(*marked["story"]["starred"].boolean());
  const std::string rescue = id_in(page["stories"].items()[0]["representative"]["id"]);
  const JsonValue apart = parsed(send("POST", "/api/v1/items/" + rescue + "/separate"));
  EXPECT_EQ(*apart["story"]["count"].number(), 1);
  EXPECT_EQ(apart["story"]["representative"]["title"].text(), kRescue);
  const JsonValue united =
      parsed(send("POST", "/api/v1/stories/" + ferry + "/unite", R"({"with":)" + tram + "}"));
  EXPECT_EQ(*united["story"]["count"].number(), 2);
  send("PATCH", "/api/v1/stories/" + ferry, R"({"read":false})");
  EXPECT_EQ(*parsed(get("/api/v1/timeline"))["unread"].number(), 1);
  const JsonValue all = parsed(send("POST", "/api/v1/timeline/read", "{}"));
  EXPECT_EQ(*all["read"].number(), 1);
  EXPECT_EQ(*parsed(get("/api/v1/timeline"))["unread"].number(), 0);
  const std::string undo = R"({"undo":)" + id_in(all["undo"]) + "}";
  EXPECT_EQ(send("POST", "/api/v1/timeline/unread", undo).body, R"({"unread":1})");
  EXPECT_EQ(send("POST", "/api/v1/timeline/unread", undo).status, 404);
  EXPECT_EQ(send("POST", "/api/v1/timeline/unread", "{}").status, 400);
  EXPECT_EQ(*parsed(get("/api/v1/timeline"))["unread"].number(), 1);
}

TEST_F(WebServiceTest, NewsComeBackAfterReadingAndHiding) {
  follow(feeds->publish("post", {{kFerry, kNow - 3h}, {kTram, kNow - 2h}}));
  const JsonValue before = parsed(get("/api/v1/timeline"));
  const std::string tram = id_in(before["stories"].items()[0]["id"]);
  const std::string ferry = id_in(before["stories"].items()[1]["id"]);
  const std::string bound = id_in(before["bound"]);
  send("PATCH", "/api/v1/stories/" + tram, R"({"hidden":true})");
  EXPECT_EQ(parsed(get("/api/v1/timeline?hidden=1"))["stories"].items().size(), 1U);
  follow(feeds->publish("times", {{kRescue, kNow - 1h}, {kTram, kNow - 1h}}));
  EXPECT_EQ(parsed(get("/api/v1/timeline?hidden=1"))["stories"].items().size(), 0U);
  EXPECT_EQ(*parsed(get("/api/v1/stories/" + tram))["story"]["new"].number(), 1);
  // Items that arrived after the page was made stay unread.
  send("PATCH", "/api/v1/stories/" + ferry, R"({"read":true,"before":)" + bound + "}");
  const JsonValue story = parsed(get("/api/v1/stories/" + ferry))["story"];
  EXPECT_FALSE(*story["read"].boolean());
  EXPECT_EQ(*story["new"].number(), 1);
  EXPECT_EQ(story["representative"]["title"].text(), kRescue);
  EXPECT_FALSE(*story["representative"]["seen"].boolean());
  send("POST", "/api/v1/timeline/read", R"({"before":)" + bound + "}");
  EXPECT_EQ(*parsed(get("/api/v1/timeline"))["unread"].number(), 2);
}

TEST_F(WebServiceTest, KeepsStarredStoriesWhenAFeedGoes) {
  const std::string id = follow(feeds->publish("post", {{kFerry, kNow - 3h}, {kTram, kNow - 2h}}));
  const JsonValue page = parsed(get("/api/v1/timeline"));
  send("PATCH", "/api/v1/stories/" + id_in(page["stories"].items()[0]["id"]),
       R"({"starred":true})");
  EXPECT_EQ(*parsed(get("/api/v1/feeds/" + id))["feed"]["starred"].number(), 1);
  EXPECT_EQ(ask(request_text("DELETE", "/api/v1/feeds/" + id + "?starred=maybe")).status, 400);
  EXPECT_EQ(ask(request_text("DELETE", "/api/v1/feeds/" + id)).status, 204);
  EXPECT_EQ(parsed(get("/api/v1/timeline"))["stories"].items().size(), 1U);
  const std::string again = follow(feeds->url("/file/post.xml"));
  EXPECT_EQ(ask(request_text("DELETE", "/api/v1/feeds/" + again + "?starred=remove")).status, 204);
  EXPECT_EQ(parsed(get("/api/v1/timeline"))["stories"].items().size(), 0U);
}

TEST_F(WebServiceTest, KeepsTheDial) {
  EXPECT_EQ(*parsed(get("/api/v1/settings"))["dial"].number(), 0.5);
  EXPECT_EQ(*parsed(send("PATCH", "/api/v1/settings", R"({"dial":0.25})"))["dial"].number(), 0.25);
  EXPECT_EQ(send("PATCH", "/api/v1/settings", R"({"dial":1.5})").status, 400);
  EXPECT_EQ(send("PATCH", "/api/v1/settings", R"({"dail":1})").status, 400);
  service_.reset();
  start(options());
  EXPECT_EQ(*parsed(get("/api/v1/settings"))["dial"].number(), 0.25);
}

TEST_F(WebServiceTest, HangingAdditionsHoldNobodyUp) {
  std::vector<TestClient> hanging;
  for (int i = 0; i < 12; ++i) {
    hanging.push_back(client());
    hanging.back().send(
        json_request("POST", "/api/v1/feeds",
                     R"({"url":")" + feeds->url("/hang?" + std::to_string(i)) + R"("})"));
  }
  // The others hang for a minute, as long as a test waits for an answer.
  follow(feeds->publish("healthy", {{kTram, kNow - 1h}}));
}

TEST_F(WebServiceTest, SaysThatAddressesOfThisMachineNeedPermission) {
  service_.reset();
  ServiceOptions strict = options();
  strict.news.http.addresses.allowed.clear();
  start(std::move(strict));
  const std::string url = feeds->publish("private", {{kTram, kNow - 1h}});
  for (const std::string& address : {url, url.substr(url.find("//") + 2)}) {
    const RawAnswer answer = send("POST", "/api/v1/feeds", R"({"url":")" + address + R"("})");
    EXPECT_EQ(answer.status, 409) << address;
    EXPECT_THAT(message_of(answer), AllOf(HasSubstr("loopback"), HasSubstr("--allow-private")));
  }
}

TEST_F(WebServiceTest, TriesHttpAfterHttpsForABareHost) {
  const std::string url = feeds->publish("bare", {{kTram, kNow - 1h}});
  const std::string bare = url.substr(url.find("//") + 2);
  const RawAnswer answer = send("POST", "/api/v1/feeds", R"({"url":")" + bare + R"("})");
  EXPECT_EQ(answer.status, 201) << answer.body;
  EXPECT_EQ(parsed(answer)["feed"]["url"].text(), url);
  const RawAnswer none = send("POST", "/api/v1/feeds", R"({"url":")" + bare + R"(.no"})");
  EXPECT_THAT(message_of(none), AllOf(HasSubstr("neither https nor http worked"),
                                      HasSubstr("https://" + bare), HasSubstr("http://" + bare)));
}

TEST_F(WebServiceTest, LimitsNames) {
  const std::string id = follow(feeds->publish("named", {{kTram, kNow - 1h}}));
  const auto edit = [&](const std::string& body) {
    return send("PATCH", "/api/v1/feeds/" + id, body);
  };
  EXPECT_EQ(edit(R"({"title":")" + std::string(501, 'x') + R"("})").status, 400);
  EXPECT_EQ(edit(R"({"folder":")" + std::string(501, 'x') + R"("})").status, 400);
  EXPECT_EQ(edit(R"({"folder":"a/b/c/d/e/f/g/h/i/j/k"})").status, 400);
  EXPECT_THAT(message_of(edit(R"({"title":")" + std::string(501, 'x') + R"("})")),
              HasSubstr("501 bytes"));
  EXPECT_EQ(parsed(edit(R"({"title":"a\nb\u202ec"})"))["feed"]["title"].text(), "a bc");
  EXPECT_EQ(send("POST", "/api/v1/feeds",
                 R"({"url":")" + feeds->url("/file/named.xml") + R"(","folder":")" +
                     std::string(501, 'x') + R"("})")
                .status,
            400);
}

TEST_F(WebServiceTest, ShowsBrowsersAPageForAnUnknownAddress) {
  const std::string html = "Accept: text/html,application/xhtml+xml,*/*;q=0.8\r\n";
  for (const char* target : {"/nothing", "/story/x", "/feeds/9"}) {
    const RawAnswer lost = ask(request_text("GET", target, html));
    EXPECT_EQ(lost.status, 404) << target;
    EXPECT_EQ(lost.header("Content-Type"), "text/html; charset=utf-8") << target;
    EXPECT_EQ(lost.body, get("/").body) << target;
    EXPECT_EQ(get(target).header("Content-Type"), "application/json; charset=utf-8") << target;
  }
  EXPECT_EQ(ask(request_text("GET", "/api/v1/nothing", html)).header("Content-Type"),
            "application/json; charset=utf-8");
  EXPECT_EQ(ask(request_text("GET", "/assets/no.js", html)).header("Content-Type"),
            "application/json; charset=utf-8");
}

TEST_F(WebServiceTest, WorksBehindAReverseProxy) {
  service_.reset();
  ServiceOptions proxied = options();
  proxied.public_url = "https://news.example.org/";
  start(std::move(proxied));
  const auto post = [&](const std::string& host, const std::string& origin) {
    return ask("POST /api/v1/timeline/read HTTP/1.1\r\nHost: " + host + "\r\nOrigin: " + origin +
               "\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")
        .status;
  };
  EXPECT_EQ(post("news.example.org", "https://news.example.org"), 200);
  EXPECT_EQ(post("127.0.0.1:8722", "https://news.example.org"), 200)
      << "a proxy that keeps no Host";
  EXPECT_EQ(post("127.0.0.1:8722", "http://127.0.0.1:8722"), 200) << "without the proxy";
  EXPECT_EQ(post("news.example.org", "https://evil.example"), 403);
  EXPECT_EQ(post("evil.example", "https://news.example.org"), 403);
  EXPECT_THAT(get("/stories.xml").body, HasSubstr("\"https://news.example.org/stories.xml\""));
  ServiceOptions wrong = options();
  wrong.folder = scratch_.path() / "other";
  wrong.public_url = "https://example.org/kindred/";
  const auto refused = WebService::start(std::move(wrong));
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("--public-url"));
}

TEST_F(WebServiceTest, LogsInWithTheTokenAndGivesReadersOneOfTheirOwn) {
  follow_some();
  service_.reset();
  ServiceOptions guarded = options();
  guarded.token = "0123456789abcdef-secret";
  start(std::move(guarded));
  EXPECT_EQ(get("/api/v1/timeline").status, 401);
  EXPECT_EQ(get("/api/v1/session").status, 401);
  EXPECT_EQ(send("POST", "/api/v1/login", R"({"token":"0123456789abcdef-wrong"})").status, 401);
  EXPECT_EQ(send("POST", "/api/v1/login", "{}").status, 400);
  const RawAnswer in = send("POST", "/api/v1/login", R"({"token":"0123456789abcdef-secret"})");
  ASSERT_EQ(in.status, 204);
  const std::string cookie(in.header("Set-Cookie"));
  EXPECT_THAT(cookie, AllOf(HasSubstr("HttpOnly"), Not(HasSubstr("Secure"))));
  const std::string field = "Cookie: " + cookie.substr(0, cookie.find(';')) + "\r\n";
  EXPECT_EQ(ask(request_text("GET", "/api/v1/timeline", field)).status, 200);
  const std::string token(
      parsed(ask(request_text("GET", "/api/v1/session", field)))["feed_token"].text());
  ASSERT_EQ(token.size(), 32U);
  const RawAnswer feed = get("/stories.xml?limit=1&token=" + token + "&unread=1");
  EXPECT_EQ(feed.status, 200);
  EXPECT_THAT(feed.body,
              AllOf(Not(HasSubstr(token)), HasSubstr("/stories.xml?limit=1&amp;unread=1\"")));
  EXPECT_EQ(get("/stories.json?token=" + token).status, 200);
  EXPECT_EQ(get("/stories.xml?token=0123456789abcdef-secret").status, 401);
  EXPECT_EQ(get("/stories.xml").status, 401);
  EXPECT_EQ(get("/api/v1/timeline?token=" + token).status, 401) << "it opens nothing else";
  EXPECT_EQ(get("/?token=" + token).status, 401);
  EXPECT_THAT(std::string(ask(json_request("POST", "/api/v1/logout")).header("Set-Cookie")),
              HasSubstr("Max-Age=0"));
}

TEST_F(WebServiceTest, TakesAndGivesOpml) {
  const std::string url = feeds->publish("listed", {{kTram, kNow - 1h}});
  const std::string opml =
      "<opml version='2.0'><body><outline text='Sea'><outline text='L' xmlUrl='" + url +
      "'/></outline></body></opml>";
  const RawAnswer imported =
      ask(request_text("POST", "/api/v1/opml", "Content-Type: text/x-opml\r\n", opml));
  EXPECT_EQ(imported.body, R"({"added":1,"already":0,"left_out":0})");
  EXPECT_EQ(ask(request_text("POST", "/api/v1/opml", "Content-Type: text/plain\r\n", opml)).status,
            415);
  EXPECT_EQ(
      ask(request_text("POST", "/api/v1/opml", "Content-Type: text/xml\r\n", "nonsense")).status,
      400);
  const RawAnswer given = get("/api/v1/opml");
  EXPECT_THAT(given.body, AllOf(HasSubstr(url), HasSubstr("Sea")));
  const std::string big(2 << 20, ' ');
  EXPECT_EQ(ask(json_request("POST", "/api/v1/feeds", big)).status, 413);
  EXPECT_EQ(
      ask(request_text("POST", "/api/v1/opml", "Content-Type: text/xml\r\n", big + opml)).body,
      R"({"added":0,"already":1,"left_out":0})");
}

TEST_F(WebServiceTest, TellsOpenPagesWhatARefreshBrought) {
  const std::string id = follow(feeds->publish("live", {{kTram, kNow - 2h}}));
  TestClient page = client();
  page.send(request_text("GET", "/api/v1/events"));
  EXPECT_THAT(page.read_to("\r\n\r\n"), HasSubstr("Content-Type: text/event-stream"));
  EXPECT_THAT(page.read_to("\n\n"), HasSubstr("id: "));
  feeds->publish("live", {{kTram, kNow - 2h}, {kFerry, kNow - 1h}});
  EXPECT_EQ(send("POST", "/api/v1/feeds/" + id + "/refresh").status, 202);
  std::string event;
  do {
    event = page.read_to("\n\n");
    ASSERT_THAT(event, HasSubstr("event: news"));
  } while (event.find("\"changed\":[]") != std::string::npos);
  const std::size_t at = event.find("\"changed\":[") + 11;
  const std::string story = event.substr(at, event.find_first_of(",]", at) - at);
  EXPECT_EQ(parsed(get("/api/v1/stories/" + story))["story"]["representative"]["title"].text(),
            kFerry);
}

TEST_F(WebServiceTest, ServesIconsAsPicturesAlone) {
  const std::string id = follow(feeds->publish("pictured", {{kTram, kNow - 1h}}));
  const RawAnswer icon = get("/api/v1/feeds/" + id + "/icon");
  ASSERT_EQ(icon.status, 200);
  EXPECT_EQ(icon.header("Content-Type"), "image/x-icon");
  EXPECT_THAT(std::string(icon.header("Content-Security-Policy")), HasSubstr("sandbox"));
  EXPECT_EQ(icon.header("X-Content-Type-Options"), "nosniff");
  const RawAnswer again =
      ask(request_text("GET", "/api/v1/feeds/" + id + "/icon",
                       "If-None-Match: " + std::string(icon.header("ETag")) + "\r\n"));
  EXPECT_EQ(again.status, 304);
  EXPECT_EQ(again.body, "");
}

TEST_F(WebServiceTest, IsAFeedForOtherReaders) {
  follow_some();
  for (const char* target : {"/stories.xml", "/stories.json"}) {
    const RawAnswer answer = get(target);
    ASSERT_EQ(answer.status, 200);
    const auto feed =
        stories::parse_feed({.bytes = answer.body, .address = "http://127.0.0.1/", .now = kNow});
    ASSERT_TRUE(feed.ok()) << feed.error().message;
    EXPECT_EQ(feed->mended, "");
    ASSERT_EQ(feed->items.size(), 2U);
    EXPECT_EQ(feed->items[0].title, kRescue);
    EXPECT_THAT(feed->items[0].guid, HasSubstr("tag:kindred,2026:story/"));
    EXPECT_THAT(feed->items[0].url, HasSubstr("https://times.example/"));
    EXPECT_THAT(feed->items[0].summary, AllOf(HasSubstr("A summary."), HasSubstr(kFerry)));
    const std::string tag(answer.header("ETag"));
    EXPECT_EQ(ask(request_text("GET", target, "If-None-Match: " + tag + "\r\n")).status, 304);
    EXPECT_EQ(ask(request_text("GET", std::string(target) + "?limit=1&utm_source=x",
                               "If-None-Match: " + tag + "\r\n"))
                  .status,
              200);
  }
}

TEST_F(WebServiceTest, EscapesWhatFeedsTryToSmuggleIn) {
  follow(feeds->url("/file/xss.xml"));
  feeds->publish("odd",
                 {{"&lt;script&gt;alert(1)&lt;/script&gt; &amp;amp; \"quotes\"", kNow - 1h}});
  follow(feeds->url("/file/odd.xml"));
  for (const char* target : {"/stories.xml", "/stories.json"}) {
    const RawAnswer answer = get(target);
    EXPECT_THAT(answer.body, AllOf(Not(HasSubstr("<script")), Not(HasSubstr("javascript:")),
                                   Not(HasSubstr("<img")), Not(HasSubstr("onerror="))));
    const auto feed =
        stories::parse_feed({.bytes = answer.body, .address = "http://127.0.0.1/", .now = kNow});
    ASSERT_TRUE(feed.ok());
    EXPECT_EQ(feed->mended, "");
  }
}

TEST_F(WebServiceTest, RefusesOtherSitesAndOtherNames) {
  const std::string json = "Content-Type: application/json\r\n";
  const auto status = [&](const std::string& text) { return ask(text).status; };
  EXPECT_EQ(status("GET /api/v1/feeds HTTP/1.1\r\nHost: evil.example\r\n\r\n"), 403);
  EXPECT_EQ(status("GET / HTTP/1.1\r\nHost: evil.example:8722\r\n\r\n"), 403);
  EXPECT_EQ(status("GET / HTTP/1.1\r\n\r\n"), 400);
  EXPECT_EQ(
      status(request_text("POST", "/api/v1/refresh", json + "Origin: https://evil.example\r\n")),
      403);
  EXPECT_EQ(
      status(request_text("POST", "/api/v1/refresh", json + "Sec-Fetch-Site: cross-site\r\n")),
      403);
  EXPECT_EQ(status(request_text("POST", "/api/v1/refresh", "Content-Type: text/plain\r\n")), 415);
  EXPECT_EQ(status(request_text("OPTIONS", "/api/v1/refresh", "Origin: https://evil.example\r\n")),
            403);
  EXPECT_EQ(
      status(request_text("POST", "/api/v1/refresh",
                          json + "Origin: http://localhost\r\nSec-Fetch-Site: same-origin\r\n")),
      202);
}

TEST_F(WebServiceTest, SaysWhatBrowsersMayDoInEveryAnswer) {
  for (const std::string& text :
       {request_text("GET", "/"), request_text("GET", "/healthz"), request_text("GET", "/nothing"),
        request_text("PUT", "/api/v1/feeds"), std::string("nonsense\r\n\r\n"),
        request_text("GET", "/api/v1/timeline"), request_text("GET", "/stories.xml")}) {
    const RawAnswer answer = ask(text);
    EXPECT_THAT(std::string(answer.header("Content-Security-Policy")),
                AllOf(HasSubstr("default-src 'none'"), HasSubstr("frame-ancestors 'none'"),
                      Not(HasSubstr("unsafe"))))
        << text;
    EXPECT_EQ(answer.header("X-Content-Type-Options"), "nosniff");
    EXPECT_EQ(answer.header("Referrer-Policy"), "no-referrer");
    EXPECT_EQ(answer.header("X-Frame-Options"), "DENY");
    EXPECT_EQ(answer.header("Cross-Origin-Resource-Policy"), "same-origin");
    EXPECT_EQ(answer.header("Access-Control-Allow-Origin"), "");
  }
}

TEST_F(WebServiceTest, ServesThePage) {
  const RawAnswer page = get("/");
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.header("Content-Type"), "text/html; charset=utf-8");
  EXPECT_EQ(page.header("Cache-Control"), "no-cache");
  EXPECT_EQ(get("/story/12").body, page.body);
  EXPECT_EQ(get("/feeds").body, page.body);
  const std::size_t at = page.body.find("/assets/");
  ASSERT_NE(at, std::string::npos);
  const std::string script = page.body.substr(at, page.body.find('"', at) - at);
  const RawAnswer asset = get(script);
  EXPECT_EQ(asset.status, 200);
  EXPECT_THAT(std::string(asset.header("Cache-Control")), HasSubstr("immutable"));
  EXPECT_EQ(ask(request_text("GET", script,
                             "If-None-Match: " + std::string(asset.header("ETag")) + "\r\n"))
                .status,
            304);
}

TEST_F(WebServiceTest, PacksLargeAnswers) {
  std::vector<stories::Published> items;
  for (int i = 0; i < 50; ++i)
    items.push_back({"Headline " + std::to_string(i * 7919) + " of the day", kNow - 1h * i});
  follow(feeds->publish("many", items));
  const RawAnswer plain = get("/api/v1/timeline");
  EXPECT_EQ(plain.header("Content-Encoding"), "");
  const RawAnswer packed =
      ask(request_text("GET", "/api/v1/timeline", "Accept-Encoding: br, gzip;q=0.8\r\n"));
  EXPECT_EQ(packed.header("Content-Encoding"), "gzip");
  EXPECT_EQ(packed.header("Vary"), "Accept-Encoding");
  EXPECT_LT(packed.body.size(), plain.body.size() / 4);
  EXPECT_EQ(ask(request_text("GET", "/api/v1/timeline", "Accept-Encoding: gzip;q=0\r\n"))
                .header("Content-Encoding"),
            "");
  net::HttpClient client({.addresses = {.allow_all = true}});
  const auto fetched = client.get({.url = service_->url() + "api/v1/timeline"});
  ASSERT_TRUE(fetched.ok());
  EXPECT_EQ(fetched->body, plain.body);
  EXPECT_LT(fetched->wire_bytes, plain.body.size() / 4);
}

TEST_F(WebServiceTest, KeepsWhatItWasTold) {
  follow_some();
  const std::string before = get("/api/v1/timeline").body;
  service_.reset();
  start(options());
  EXPECT_EQ(get("/api/v1/timeline").body, before);
}

TEST_F(WebServiceTest, RefusesAFolderThatIsInUse) {
  const auto second = WebService::start(options());
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, Code::kFailedPrecondition);
}

TEST_F(WebServiceTest, StopsWhileAFeedIsBeingAdded) {
  service_.reset();
  ServiceOptions patient = options();
  patient.limits.grace = 1h;
  patient.news.http.budgets.total = 1h;
  patient.news.http.budgets.slowest_for = 1h;
  start(std::move(patient));
  TestClient adding = client();
  adding.send(json_request("POST", "/api/v1/feeds", R"({"url":")" + feeds->url("/hang") + R"("})"));
  TestClient page = client();
  page.send(request_text("GET", "/api/v1/events"));
  page.read_to("\n\n");
  expect_to_return([&] { service_->stop(); });
}

}  // namespace
}  // namespace kin::server
