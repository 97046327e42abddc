// The service where other machines can reach it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/file.h"
#include "base/testing/manual_clock.h"
#include "net/http_client.h"
#include "server/testing/test_client.h"
#include "server/web_service.h"

namespace kin::server {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using namespace std::chrono_literals;

class SafeServiceTest : public testing::Test {
 protected:
  static constexpr const char* kToken = "0123456789abcdef0123456789abcdef";

  void SetUp() override {
    const std::string folder = scratch_.path().string();
    const std::string command =
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 "
        "-keyout " +
        folder + "/key.pem -out " + folder +
        "/cert.pem -subj /CN=localhost -addext subjectAltName=DNS:localhost,IP:127.0.0.1 "
        "2>/dev/null";
    ASSERT_EQ(std::system(command.c_str()), 0);
  }
  ServiceOptions options() {
    ServiceOptions options;
    options.address = "0.0.0.0";
    options.folder = scratch_.path() / "news";
    options.token = kToken;
    options.tls = TlsFiles{.certificate = (scratch_.path() / "cert.pem").string(),
                           .key = (scratch_.path() / "key.pem").string()};
    return options;
  }
  void start(ServiceOptions options) {
    auto service = WebService::start(std::move(options));
    ASSERT_TRUE(service.ok()) << service.error().message;
    service_ = std::move(*service);
  }
  Result<net::HttpResponse> get(const std::string& target, const std::string& token = {},
                                std::vector<net::Header> headers = {}) {
    net::HttpClient client(
        {.addresses = {.allow_all = true}, .ca_file = (scratch_.path() / "cert.pem").string()});
    net::HttpRequest request{
        .url = "https://127.0.0.1:" + std::to_string(service_->port()) + target,
        .headers = std::move(headers)};
    if (!token.empty())
      request.credentials = {.kind = net::Credentials::Kind::kBearer, .secret = token};
    return client.get(request);
  }

  TemporaryFolder scratch_ = TemporaryFolder::create().value();
  ManualClock clock_;  // read by the service's threads until the service is gone
  std::unique_ptr<WebService> service_;
};

TEST_F(SafeServiceTest, NeedsBothATokenAndTls) {
  const auto why = [](ServiceOptions options) {
    const auto service = WebService::start(std::move(options));
    EXPECT_FALSE(service.ok());
    return service.ok() ? std::string() : service.error().message;
  };
  ServiceOptions no_token = options();
  no_token.token.clear();
  EXPECT_THAT(why(std::move(no_token)), AllOf(HasSubstr("0.0.0.0"), HasSubstr("--token-file")));
  ServiceOptions no_tls = options();
  no_tls.tls.reset();
  EXPECT_THAT(why(std::move(no_tls)), HasSubstr("--tls-cert"));
  ServiceOptions short_token = options();
  short_token.token = "short";
  EXPECT_THAT(why(std::move(short_token)), HasSubstr("16 characters"));
  ServiceOptions no_address = options();
  no_address.address = "example.org";
  EXPECT_THAT(why(std::move(no_address)), HasSubstr("not an IP address"));
  EXPECT_FALSE(std::filesystem::exists(scratch_.path() / "news"));
}

TEST_F(SafeServiceTest, SpeaksTlsAndAsksForTheToken) {
  start(options());
  EXPECT_EQ(service_->url(), "https://0.0.0.0:" + std::to_string(service_->port()) + "/");
  EXPECT_EQ(get("/healthz")->status, 200);
  for (const char* target : {"/api/v1/feeds", "/api/v1/events", "/stories.xml", "/nothing"})
    EXPECT_EQ(get(target)->status, 401) << target;
  EXPECT_EQ(get("/nothing", kToken)->status, 404);
  EXPECT_EQ(get("/api/v1/feeds", kToken)->status, 200);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(get("/api/v1/feeds", std::string(kToken) + "x")->status, 401);
  EXPECT_GE(std::chrono::steady_clock::now() - start, 250ms);
}

// The page itself holds no user data, and a browser that follows a link from another site sends no
// cookie with its first request.
TEST_F(SafeServiceTest, ShowsThePageToEverybody) {
  start(options());
  const auto page = get("/");
  EXPECT_EQ(page->status, 200);
  EXPECT_THAT(page->body, HasSubstr("<title>Kindred</title>"));
  EXPECT_EQ(get("/story/1")->status, 200);
}

TEST_F(SafeServiceTest, TradesTheTokenForACookie) {
  start(options());
  const auto followed = get(std::string("/?token=") + kToken);
  ASSERT_TRUE(followed.ok());
  EXPECT_EQ(followed->status, 200);
  EXPECT_EQ(followed->url, "https://127.0.0.1:" + std::to_string(service_->port()) + "/");
  EXPECT_EQ(get("/?token=0123456789abcdef")->status, 401);
}

TEST_F(SafeServiceTest, HangsUpOnClientsThatDoNotSpeakTls) {
  ServiceOptions watched = options();
  watched.clock = &clock_;
  watched.clock_tick = 1ms;
  start(std::move(watched));
  TestClient plain(service_->port());
  plain.send(request_text("GET", "/"));
  EXPECT_TRUE(plain.ended());
  TestClient silent(service_->port());
  EXPECT_TRUE(eventually([&] {
    clock_.advance(1s);
    return silent.ended(1ms);
  }));
  EXPECT_EQ(get("/healthz")->status, 200);
}

}  // namespace
}  // namespace kin::server
