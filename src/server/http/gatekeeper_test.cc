#include "server/http/gatekeeper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/manual_clock.h"

namespace kin::server {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kToken = "0123456789abcdef-secret";

Request request(std::string method, std::vector<net::Header> fields,
                std::string path = "/api/v1/feeds") {
  if (!net::find_header(fields, "Host")) fields.push_back({"Host", "localhost:8722"});
  return {.method = std::move(method), .target = path, .path = path, .headers = std::move(fields)};
}

int status_of(Gatekeeper& gate, const Request& asked) {
  if (const auto refusal = gate.check_sender(asked)) return refusal->status;
  if (const auto refusal = gate.check_token_of(asked)) return refusal->status;
  if (const auto refusal = gate.check_body(asked, BodyKind::kJson)) return refusal->status;
  return 200;
}

TEST(Gatekeeper, LetsOnlyThisMachinesNamesIn) {
  Gatekeeper gate({});
  for (const char* host :
       {"localhost", "localhost:8722", "LocalHost:80", "127.0.0.1:8722", "[::1]:8722"})
    EXPECT_EQ(status_of(gate, request("GET", {{"Host", host}})), 200) << host;
  for (const char* host :
       {"evil.example", "evil.example:8722", "localhost.evil.example", "127.0.0.1.nip.io",
        "192.168.1.7:8722", "[::2]:8722", "[::1]evil.example"})
    EXPECT_EQ(status_of(gate, request("GET", {{"Host", host}})), 403) << host;
  for (const char* host : {"", "localhost:evil", "[::1"})
    EXPECT_GE(status_of(gate, request("GET", {{"Host", host}})), 400) << host;
  EXPECT_EQ(status_of(gate, request("GET", {{"Host", "localhost"}, {"host", "localhost"}})), 400);
}

TEST(Gatekeeper, LetsNoOtherSiteChangeAnything) {
  Gatekeeper gate({});
  const net::Header json{"Content-Type", "application/json"};
  EXPECT_EQ(status_of(gate, request("POST", {json})), 200);
  EXPECT_EQ(status_of(gate, request("POST", {json, {"Origin", "http://localhost:8722"}})), 200);
  EXPECT_EQ(status_of(gate, request("POST", {json, {"Sec-Fetch-Site", "same-origin"}})), 200);
  for (const char* origin : {"https://evil.example", "http://localhost:9999",
                             "https://localhost:8722", "null", "http://localhost", ""})
    EXPECT_EQ(status_of(gate, request("POST", {json, {"Origin", origin}})), 403) << origin;
  for (const char* site : {"cross-site", "same-site", "anything"}) {
    EXPECT_EQ(status_of(gate, request("DELETE", {json, {"Sec-Fetch-Site", site}})), 403) << site;
    EXPECT_EQ(status_of(gate, request("GET", {{"Sec-Fetch-Site", site}})), 403) << site;
    EXPECT_EQ(status_of(gate, request("GET", {{"Sec-Fetch-Site", site}}, "/")), 200) << site;
  }
}

TEST(Gatekeeper, WantsBodiesThatNoFormCanSend) {
  Gatekeeper gate({});
  for (const char* type :
       {"text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""})
    EXPECT_EQ(status_of(gate, request("POST", {{"Content-Type", type}})), 415) << type;
  EXPECT_EQ(status_of(gate, request("POST", {})), 415);
  EXPECT_EQ(
      status_of(gate, request("PATCH", {{"Content-Type", "application/json; charset=utf-8"}})),
      200);
  EXPECT_EQ(status_of(gate, request("DELETE", {})), 200);
  for (const char* type :
       {"text/x-opml", "text/xml; charset=utf-8", "application/xml", "application/rss+xml"})
    EXPECT_FALSE(gate.check_body(request("POST", {{"Content-Type", type}}), BodyKind::kXml))
        << type;
  EXPECT_TRUE(gate.check_body(request("POST", {{"Content-Type", "text/plain"}}), BodyKind::kXml));
}

TEST(Gatekeeper, AsksForTheTokenInEveryRequest) {
  Gatekeeper gate({.loopback = false, .tls = true, .token = kToken});
  const std::string good = std::string("Bearer ") + kToken;
  EXPECT_EQ(status_of(gate, request("GET", {{"Host", "news.example"}})), 401);
  EXPECT_EQ(status_of(gate, request("GET", {{"Host", "news.example"}}, "/")), 401);
  EXPECT_EQ(status_of(gate, request("GET", {{"Authorization", good}})), 200);
  EXPECT_EQ(status_of(gate, request("GET", {{"Authorization", good + "x"}})), 401);
  EXPECT_EQ(status_of(gate, request("GET", {{"Authorization", "Basic " + std::string(kToken)}})),
            401);
  EXPECT_EQ(status_of(gate, request("GET", {{"Cookie", "kindred=" + std::string(kToken)}})), 401);
}

TEST(Gatekeeper, GivesACookieForTheToken) {
  Gatekeeper gate({.loopback = false, .tls = true, .token = kToken});
  Request opening = request("GET", {}, "/");
  opening.query = {{"token", kToken}};
  const auto sent_on = gate.check_token_of(opening);
  ASSERT_TRUE(sent_on);
  EXPECT_EQ(sent_on->status, 303);
  EXPECT_EQ(net::find_header(sent_on->headers, "Location"), "/");
  const std::string cookie(net::find_header(sent_on->headers, "Set-Cookie").value_or(""));
  EXPECT_THAT(cookie, AllOf(HasSubstr("HttpOnly"), HasSubstr("SameSite=Strict"),
                            HasSubstr("; Secure"), HasSubstr("Path=/"), Not(HasSubstr(kToken))));
  const std::string pair = cookie.substr(0, cookie.find(';'));
  EXPECT_EQ(status_of(gate, request("GET", {{"Cookie", "a=b; " + pair + "; c=d"}})), 200);
  EXPECT_EQ(status_of(gate, request("GET", {{"Cookie", pair + "0"}})), 401);
  Gatekeeper other({.loopback = false, .tls = true, .token = std::string(kToken) + "2"});
  EXPECT_EQ(status_of(other, request("GET", {{"Cookie", pair}})), 401);
}

TEST(Gatekeeper, SlowsGuessersDown) {
  ManualClock clock;
  Gatekeeper gate({.loopback = false, .tls = true, .token = kToken, .clock = &clock});
  Request guess = request("GET", {}, "/");
  guess.query = {{"token", "guess"}};
  EXPECT_EQ(gate.check_token_of(guess)->delay, std::chrono::milliseconds(250));
  EXPECT_EQ(gate.check_token_of(guess)->delay, std::chrono::milliseconds(500));
  for (int i = 0; i < 100; ++i) EXPECT_EQ(gate.check_token_of(guess)->status, 401);
  EXPECT_EQ(gate.check_token_of(guess)->delay, std::chrono::seconds(4));
  clock.advance(std::chrono::seconds(60));
  EXPECT_EQ(gate.check_token_of(guess)->delay, std::chrono::seconds(4));
  clock.advance(std::chrono::seconds(61));
  EXPECT_EQ(gate.check_token_of(guess)->delay, std::chrono::milliseconds(250));
  guess.query = {{"token", kToken}};
  EXPECT_EQ(gate.check_token_of(guess)->delay.count(), 0);
}

TEST(Gatekeeper, KnowsWhatATokenIs) {
  EXPECT_TRUE(check_token("0123456789abcdef").ok());
  EXPECT_FALSE(check_token("short").ok());
  EXPECT_FALSE(check_token("0123456789abcdef with spaces").ok());
}

}  // namespace
}  // namespace kin::server
