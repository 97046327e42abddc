#include "net/http_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

#include "base/file.h"
#include "base/testing/source_folder.h"
#include "net/testing/test_server.h"

namespace kin::net {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;
using namespace std::chrono_literals;

HttpOptions loopback_options() {
  return {.user_agent = "KindredTest/1",
          .addresses = {.allowed = {Network::parse("127.0.0.1").value()}},
          .budgets = {.connect = 1min, .total = 1min, .slowest = 100, .slowest_for = 1min}};
}

class HttpClientTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { server = new TestServer(source_folder()); }
  static void TearDownTestSuite() { delete server; }

  Result<HttpResponse> get(const std::string& path) {
    return client_.get({.url = server->url(path)});
  }
  Error error_of(const std::string& path) {
    const auto response = get(path);
    EXPECT_FALSE(response.ok()) << path;
    return response.ok() ? Error{} : response.error();
  }

  static TestServer* server;
  HttpClient client_{loopback_options()};
};

TestServer* HttpClientTest::server = nullptr;

TEST_F(HttpClientTest, GetsABodyAndItsHeader) {
  const auto response = get("/file/feed.json");
  ASSERT_TRUE(response.ok()) << response.error().message;
  EXPECT_EQ(response->status, 200);
  EXPECT_EQ(response->header("content-type"), "application/feed+json");
  EXPECT_THAT(response->body, HasSubstr("jsonfeed.org"));
  EXPECT_EQ(response->url, server->url("/file/feed.json"));
  EXPECT_EQ(response->moved_to, std::nullopt);
}

TEST_F(HttpClientTest, GivesEveryStatusAsAnAnswer) {
  for (const int status : {404, 410, 429, 500, 503}) {
    const auto response = get("/status/" + std::to_string(status));
    ASSERT_TRUE(response.ok());
    EXPECT_EQ(response->status, status);
  }
}

TEST_F(HttpClientTest, SendsConditionsAndIsToldNotModified) {
  const auto first = get("/etag");
  ASSERT_TRUE(first.ok());
  const auto second =
      client_.get({.url = server->url("/etag"),
                   .headers = {{"If-None-Match", std::string(first->header("ETag"))}}});
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(second->status, 304);
  EXPECT_EQ(second->body, "");
}

TEST_F(HttpClientTest, NamesItselfAndAsksForCompression) {
  const auto response = get("/echo");
  ASSERT_TRUE(response.ok());
  EXPECT_THAT(response->body,
              AllOf(HasSubstr("User-Agent: KindredTest/1"), HasSubstr("gzip"), HasSubstr("br")));
}

TEST_F(HttpClientTest, PostsABody) {
  const HttpRequest request{.url = server->url("/echo"),
                            .credentials = {Credentials::Kind::kBearer, "", "secret"},
                            .body = HttpBody{"application/json", std::string("[1,\0 2]", 8)}};
  const auto response = client_.get(request);
  ASSERT_TRUE(response.ok()) << response.error().message;
  EXPECT_EQ(response->status, 200);
  EXPECT_THAT(response->body,
              AllOf(HasSubstr("Content-Type: application/json\n"), HasSubstr("Content-Length: 8\n"),
                    HasSubstr("Authorization: Bearer secret\n"), HasSubstr(request.body->bytes),
                    Not(HasSubstr("Expect"))));
}

TEST_F(HttpClientTest, PostsNothingToWhereItIsRedirected) {
  for (const int status : {301, 303, 307}) {
    const std::string path = "/redirect/" + std::to_string(status) + "/counted/post";
    const auto response =
        client_.get({.url = server->url(path), .body = HttpBody{"text/plain", "x"}});
    ASSERT_TRUE(response.ok()) << response.error().message;
    EXPECT_EQ(response->status, status);
    EXPECT_EQ(response->header("location"), "/counted/post");
  }
}

TEST_F(HttpClientTest, RefusesAContentTypeWithALineEndInIt) {
  const auto response =
      client_.get({.url = server->url("/echo"), .body = HttpBody{"text/plain\r\nX-Evil: 1", "x"}});
  ASSERT_FALSE(response.ok());
  EXPECT_EQ(response.error().code, Code::kInvalidArgument);
}

TEST_F(HttpClientTest, UnpacksWhatIsPacked) {
  const auto plain = get("/file/rss20.xml");
  for (const char* path : {"/gzip", "/deflate"}) {
    const auto packed = get(path);
    ASSERT_TRUE(packed.ok()) << packed.error().message;
    EXPECT_EQ(packed->body, plain->body) << path;
    EXPECT_LT(packed->wire_bytes, packed->body.size());
  }
  EXPECT_EQ(error_of("/damaged-gzip").code, Code::kDataLoss);
}

TEST_F(HttpClientTest, StopsAtABomb) {
  const Error error = error_of("/bomb");
  EXPECT_EQ(error.code, Code::kResourceExhausted);
  EXPECT_THAT(error.message, HasSubstr("unpacks to more than 200 times"));
}

TEST_F(HttpClientTest, StopsAnAnswerThatHasNoEnd) {
  const Error error = error_of("/endless");
  EXPECT_EQ(error.code, Code::kResourceExhausted);
  EXPECT_THAT(error.message, HasSubstr("longer than 16 MiB"));
}

TEST_F(HttpClientTest, KeepsToARequestsOwnBudgetOfBytes) {
  const auto response = client_.get({.url = server->url("/file/rss20.xml"), .most_bytes = 100});
  ASSERT_FALSE(response.ok());
  EXPECT_THAT(response.error().message, HasSubstr("longer than 100 bytes"));
}

// The answer may be there as soon as the request is sent, and the next hop must start all the same.
TEST_F(HttpClientTest, FollowsRedirectsThatAreAnsweredAtOnce) {
  for (int i = 0; i < 200; ++i) EXPECT_THAT(error_of("/loop").message, HasSubstr("redirects"));
}

TEST_F(HttpClientTest, GivesUpOnServersThatAreSlow) {
  HttpOptions options = loopback_options();
  options.budgets.slowest_for = 2s;
  HttpClient client(options);
  const auto response = client.get({.url = server->url("/slow")});
  ASSERT_FALSE(response.ok());
  EXPECT_EQ(response.error().code, Code::kUnavailable);
  EXPECT_THAT(response.error().message, HasSubstr("too slow"));
}

TEST_F(HttpClientTest, GivesUpWhenTheTimeIsOver) {
  HttpOptions options = loopback_options();
  options.budgets.total = 300ms;
  HttpClient client(options);
  const auto response = client.get({.url = server->url("/hang")});
  ASSERT_FALSE(response.ok());
  EXPECT_EQ(response.error().code, Code::kUnavailable);
  EXPECT_THAT(response.error().message, HasSubstr("no complete answer within 0.3 s"));
}

TEST_F(HttpClientTest, SaysWhatIsWrongWithAnAnswer) {
  EXPECT_THAT(error_of("/closed").message, HasSubstr("closed the connection"));
  EXPECT_THAT(error_of("/short").message,
              HasSubstr("closed the connection before its answer was complete"));
  EXPECT_THAT(error_of("/long-header").message, HasSubstr("header of the answer is longer"));
}

TEST_F(HttpClientTest, SaysWhyThereIsNoConnection) {
  const auto nobody = client_.get({.url = "http://127.0.0.1:1023/"});
  EXPECT_THAT(nobody.error().message, HasSubstr("does not accept connections on port 1023"));
  const auto unknown = client_.get({.url = "http://no-such-host.invalid/"});
  EXPECT_THAT(unknown.error().message,
              HasSubstr("no address found for the host no-such-host.invalid"));
  for (const char* url :
       {"ftp://example.com/", "file:///etc/passwd", "gopher://127.0.0.1/", "nonsense"})
    EXPECT_EQ(client_.get({.url = url}).error().code, Code::kInvalidArgument) << url;
  EXPECT_THAT(client_.get({.url = "http://127.0.0.1:25/"}).error().message, HasSubstr("port 25"));
}

TEST_F(HttpClientTest, FollowsRedirectsAndTellsPermanentOnes) {
  const auto moved = get("/redirect/301/redirect/308/file/atom.xml");
  ASSERT_TRUE(moved.ok()) << moved.error().message;
  EXPECT_EQ(moved->url, server->url("/file/atom.xml"));
  EXPECT_EQ(moved->moved_to, server->url("/file/atom.xml"));

  const auto for_now = get("/redirect/302/file/atom.xml");
  ASSERT_TRUE(for_now.ok());
  EXPECT_EQ(for_now->status, 200);
  EXPECT_EQ(for_now->moved_to, std::nullopt);

  const auto mixed = get("/redirect/301/redirect/307/redirect/301/file/atom.xml");
  ASSERT_TRUE(mixed.ok());
  EXPECT_EQ(mixed->moved_to, server->url("/redirect/307/redirect/301/file/atom.xml"));
}

TEST_F(HttpClientTest, StopsAfterTooManyRedirects) {
  EXPECT_THAT(error_of("/loop").message, HasSubstr("more than 5 redirects"));
}

TEST_F(HttpClientTest, RefusesRedirectsThatLeaveTheWeb) {
  for (const char* target : {"file:///etc/passwd", "gopher://127.0.0.1:70/", "ftp://127.0.0.1/"}) {
    const Error error = error_of("/redirect/302/" + quoted(target));
    EXPECT_EQ(error.code, Code::kInvalidArgument) << target;
  }
}

TEST_F(HttpClientTest, RefusesAddressesThatAreNotPublicUnlessAllowed) {
  HttpClient strict(HttpOptions{});
  for (const std::string& url :
       {server->url("/echo"), "http://localhost:" + std::to_string(server->port()) + "/echo",
        "http://2130706433:" + std::to_string(server->port()) + "/echo",
        "http://0x7f.1:" + std::to_string(server->port()) + "/echo",
        "http://[::ffff:127.0.0.1]:" + std::to_string(server->port()) + "/echo",
        std::string("http://[::1]/"), std::string("http://0.0.0.0/"),
        std::string("http://10.0.0.1/"), std::string("http://169.254.169.254/latest/meta-data/"),
        std::string("http://192.168.0.1/"), std::string("http://[fe80::1]/"),
        std::string("http://[fd00:ec2::254]/")}) {
    const auto response = strict.get({.url = url});
    ASSERT_FALSE(response.ok()) << url;
    EXPECT_EQ(response.error().code, Code::kFailedPrecondition)
        << url << ": " << response.error().message;
    EXPECT_THAT(response.error().message, HasSubstr("must not be connected to"));
  }
}

TEST_F(HttpClientTest, ChecksTheAddressOfEveryHop) {
  const std::string port = std::to_string(server->port());
  for (const std::string& target :
       {"http://127.0.0.2:" + port + "/echo", "http://[::1]:" + port + "/echo",
        std::string("http://169.254.169.254/latest/meta-data/"), std::string("http://10.0.0.1/")}) {
    const Error error = error_of("/redirect/302/" + quoted(target));
    EXPECT_EQ(error.code, Code::kFailedPrecondition) << target << ": " << error.message;
  }
}

TEST_F(HttpClientTest, TakesNoProxyFromTheEnvironment) {
  ::setenv("http_proxy", "http://127.0.0.1:1", 1);
  const auto response = get("/echo");
  ::unsetenv("http_proxy");
  EXPECT_TRUE(response.ok());
}

TEST_F(HttpClientTest, SendsCredentialsToTheirOriginOnly) {
  const Credentials basic{.kind = Credentials::Kind::kBasic, .user = "ada", .secret = "s:cret"};
  const Credentials bearer{.kind = Credentials::Kind::kBearer, .user = {}, .secret = "token123"};
  const auto with_basic = client_.get({.url = server->url("/echo"), .credentials = basic});
  EXPECT_THAT(with_basic->body, HasSubstr("Authorization: Basic YWRhOnM6Y3JldA=="));
  const auto with_bearer =
      client_.get({.url = server->url("/redirect/302/echo"), .credentials = bearer});
  EXPECT_THAT(with_bearer->body, HasSubstr("Authorization: Bearer token123"));
  const auto in_url = client_.get(
      {.url = "http://ada:s%3Acret@127.0.0.1:" + std::to_string(server->port()) + "/echo"});
  EXPECT_THAT(in_url->body, HasSubstr("Authorization: Basic YWRhOnM6Y3JldA=="));
  EXPECT_THAT(in_url->url, Not(HasSubstr("ada")));

  TestServer other(source_folder());
  for (const Credentials& credentials : {basic, bearer}) {
    const auto elsewhere =
        client_.get({.url = server->url("/redirect/302/" + quoted(other.url("/echo"))),
                     .headers = {{"Cookie", "secret=1"}, {"X-Kept", "yes"}},
                     .credentials = credentials});
    ASSERT_TRUE(elsewhere.ok()) << elsewhere.error().message;
    EXPECT_THAT(elsewhere->body, AllOf(Not(HasSubstr("Authorization")), Not(HasSubstr("Cookie")),
                                       HasSubstr("X-Kept: yes")));
  }
}

TEST_F(HttpClientTest, RefusesRequestsWithLineEndsInThem) {
  const auto response = client_.get({.url = server->url("/echo"), .headers = {{"X", "a\r\nY: b"}}});
  EXPECT_EQ(response.error().code, Code::kInvalidArgument);
}

TEST_F(HttpClientTest, TrustsCertificatesAndRefusesToLeaveTlsWithCredentials) {
  const TemporaryFolder folder = TemporaryFolder::create().value();
  TestServer secure_server(source_folder(), folder.path().string());
  EXPECT_THAT(client_.get({.url = secure_server.tls_url("/echo")}).error().message,
              HasSubstr("certificate is not trusted"));
  HttpOptions options = loopback_options();
  options.ca_file = (folder.path() / "cert.pem").string();
  HttpClient client(options);
  const auto secure = client.get({.url = secure_server.tls_url("/echo")});
  ASSERT_TRUE(secure.ok()) << secure.error().message;

  const std::string down =
      secure_server.tls_url("/redirect/301/" + quoted(secure_server.url("/echo")));
  const auto without = client.get({.url = down});
  ASSERT_TRUE(without.ok()) << without.error().message;
  const auto with =
      client.get({.url = down,
                  .credentials = {.kind = Credentials::Kind::kBearer, .user = {}, .secret = "t"}});
  ASSERT_FALSE(with.ok());
  EXPECT_EQ(with.error().code, Code::kFailedPrecondition);
  EXPECT_THAT(with.error().message, HasSubstr("from https to http"));
}

TEST_F(HttpClientTest, GetsSeveralAtOnceWithALimitPerHost) {
  std::vector<HttpRequest> requests;
  for (int i = 0; i < 8; ++i) requests.push_back({.url = server->url("/counted/many")});
  requests.push_back({.url = "nonsense"});
  std::vector<int> results(requests.size());
  client_.get_all(requests, [&](std::size_t i, Result<HttpResponse> response) {
    results[i] += response.ok() ? 1 : 100;
  });
  EXPECT_THAT(results, ::testing::ElementsAre(1, 1, 1, 1, 1, 1, 1, 1, 100));
  EXPECT_THAT(get("/count/many")->body, AnyOf("8 1", "8 2"));
}

TEST_F(HttpClientTest, SharesTheLimitPerHostBetweenThreads) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i)
    threads.emplace_back(
        [&] { EXPECT_TRUE(client_.get({.url = server->url("/counted/threads")}).ok()); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(get("/count/threads")->body, AnyOf("6 1", "6 2"));
}

TEST_F(HttpClientTest, EndsEveryCallWhenCancelled) {
  std::vector<HttpRequest> requests(4, {.url = server->url("/hang")});
  std::vector<Code> codes;
  std::thread caller([&] {
    client_.get_all(requests, [&](std::size_t, Result<HttpResponse> response) {
      codes.push_back(response.ok() ? Code::kInternal : response.error().code);
    });
  });
  client_.cancel();
  caller.join();
  EXPECT_EQ(codes, std::vector<Code>(4, Code::kCancelled));
  EXPECT_EQ(get("/echo").error().code, Code::kCancelled);
}

TEST_F(HttpClientTest, DoesNotLetASlowHostHoldUpTheOthers) {
  TestServer other(source_folder());
  std::size_t failed = 0;
  for (int i = 0; i < 4; ++i)
    client_.submit({.url = server->url("/hang")},
                   [&](HttpOutcome outcome) { failed += outcome.response.ok() ? 0U : 1U; });
  bool answered = false;
  client_.submit({.url = "http://localhost:" + std::to_string(other.port()) + "/echo"},
                 [&](HttpOutcome outcome) { answered = outcome.response.ok(); });
  while (!answered && failed == 0) client_.poll(1min);
  EXPECT_TRUE(answered);
  EXPECT_EQ(failed, 0U);
}

}  // namespace
}  // namespace kin::net
