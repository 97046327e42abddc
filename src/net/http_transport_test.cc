// HttpClient as a transport: kept connections, requests in flight, streams, signers, failures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <set>
#include <thread>

#include "base/file.h"
#include "base/testing/manual_clock.h"
#include "base/testing/source_folder.h"
#include "net/http_client.h"
#include "net/testing/test_server.h"

namespace kin::net {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using namespace std::chrono_literals;

constexpr std::uint64_t kMuch = 50'000'000;
// SHA-256 of kMuch bytes of pattern_at().
constexpr const char* kMuchDigest =
    "ac133d1cddbbf3141b9272ab8e4bd153fa3142187b11746db5df561fca4e0056";

char pattern_at(std::uint64_t i) {
  return static_cast<char>(i % 251);
}

std::uint64_t resident_bytes() {
  std::uint64_t total = 0;
  std::uint64_t resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  return resident * 4096;
}

HttpOptions transport_options() {
  return {.addresses = {.allowed = {Network::parse("127.0.0.1").value()}},
          .budgets = {.bytes = kMuch, .connect = 1min, .total = 5min, .slowest = 0},
          .transfers = 300,
          .transfers_per_host = 300,
          .idle_connections = 300};
}

// A body of `size` bytes of the pattern, made as it is read.
BodySource pattern_source(std::uint64_t size) {
  return [size, at = std::uint64_t{0}](std::span<char> into) mutable -> Result<std::size_t> {
    const std::size_t count = std::min<std::uint64_t>(into.size(), size - at);
    for (char& c : into.first(count)) c = pattern_at(at++);
    return count;
  };
}

class HttpTransportTest : public ::testing::Test {
 protected:
  Result<HttpResponse> get(const std::string& path) {
    return client_.get({.url = server_.url(path)});
  }
  std::string connections() { return get("/connections").value().body; }
  void poll_all() {
    while (client_.submitted() > 0) client_.poll(1min);
  }
  HttpClient::Done keep(std::optional<HttpOutcome>& place) {
    return [&place](HttpOutcome outcome) { place.emplace(std::move(outcome)); };
  }

  TestServer server_{source_folder()};
  HttpClient client_{transport_options()};
};

TEST_F(HttpTransportTest, KeepsConnectionsBetweenCalls) {
  for (int i = 0; i < 20; ++i) EXPECT_EQ(connections(), "1");
  std::thread([&] { EXPECT_EQ(connections(), "1"); }).join();
  EXPECT_EQ(HttpClient(transport_options()).get({.url = server_.url("/connections")})->body, "2");
}

TEST_F(HttpTransportTest, ResumesTlsSessions) {
  const TemporaryFolder folder = TemporaryFolder::create().value();
  TestServer secure(source_folder(), folder.path().string());
  HttpOptions options = transport_options();
  options.ca_file = (folder.path() / "cert.pem").string();
  HttpClient client(options);
  std::vector<std::string> sessions;
  for (int i = 0; i < 3; ++i)
    sessions.push_back(client.get({.url = secure.tls_url("/session")}).value().body);
  EXPECT_THAT(sessions, ElementsAre("new", "reused", "reused"));
}

TEST_F(HttpTransportTest, NothingOfARequestReachesTheNext) {
  const std::string url = server_.url("/echo");
  const auto echo = [&](const HttpRequest& request) { return client_.get(request).value().body; };
  const HttpRequest first{
      .url = url, .headers = {{"X-First", "1"}}, .body = HttpBody{"text/plain", "one"}};
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(echo(first), AllOf(HasSubstr("X-First: 1\n"), HasSubstr("text/plain")));
    EXPECT_THAT(
        echo({.url = url, .body = HttpBody{"", "four"}, .decompress = false}),
        AllOf(HasSubstr("four"), HasSubstr("Content-Length: 4\n"), Not(HasSubstr("X-First")),
              Not(HasSubstr("text/plain")), Not(HasSubstr("gzip"))));
    EXPECT_THAT(echo(first), AllOf(HasSubstr("one"), HasSubstr("gzip"), Not(HasSubstr("four"))));
    EXPECT_THAT(echo({.url = url}), AllOf(Not(HasSubstr("Content-")), Not(HasSubstr("X-First"))));
    EXPECT_THAT(echo({.url = url,
                      .credentials = {Credentials::Kind::kBearer, "", "secret"},
                      .body = HttpBody{"", "x"}}),
                HasSubstr("Authorization: Bearer secret\n"));
    EXPECT_THAT(echo(first), Not(HasSubstr("Authorization")));
  }
}

TEST_F(HttpTransportTest, HasHundredsOfRequestsInFlightAndUsesTheirConnectionsAgain) {
  for (const char* round : {"/gather/one/300", "/gather/two/300"}) {
    int together = 0;
    for (int i = 0; i < 300; ++i)
      client_.submit({.url = server_.url(round)}, [&](HttpOutcome outcome) {
        together += outcome.response.ok() && outcome.response->body == "together" ? 1 : 0;
      });
    EXPECT_EQ(client_.submitted(), 300U);
    poll_all();
    EXPECT_EQ(together, 300);
    EXPECT_EQ(connections(), "300");
  }
}

TEST_F(HttpTransportTest, SendsAnyMethod) {
  for (const char* method : {"PUT", "PATCH", "DELETE", "GET"})
    EXPECT_THAT(client_.get({.url = server_.url("/take"), .method = method})->body,
                HasSubstr(std::string(method) + " 0 "));
  EXPECT_THAT(
      client_.get({.url = server_.url("/take"), .method = "PUT", .body = HttpBody{"", "four"}})
          ->body,
      HasSubstr("PUT 4 "));
  const auto head = client_.get({.url = server_.url("/file/feed.json"), .method = "HEAD"});
  EXPECT_EQ(head->body, "");
  EXPECT_EQ(head->header("content-type"), "application/feed+json");
  for (const char* method : {"G T", "GET\r\nX: 1", "ä"})
    EXPECT_EQ(client_.get({.url = server_.url("/take"), .method = method}).error().code,
              Code::kInvalidArgument);
}

TEST_F(HttpTransportTest, StreamsUploadsWithinLittleMemory) {
  for (const std::optional<std::uint64_t> length :
       {std::optional(kMuch), std::optional<std::uint64_t>()}) {
    const std::uint64_t before = resident_bytes();
    std::uint64_t most = 0;
    const auto source = [&, pattern = pattern_source(kMuch)](std::span<char> into) mutable {
      most = std::max(most, resident_bytes());
      return pattern(into);
    };
    const auto response =
        client_.get({.url = server_.url("/take"),
                     .method = "PUT",
                     .body = HttpBody{.type = "", .source = source, .length = length}});
    ASSERT_TRUE(response.ok()) << response.error().message;
    EXPECT_EQ(response->body, "PUT 50000000 " + std::string(kMuchDigest));
    EXPECT_LT(most, before + (16U << 20));
  }
}

TEST_F(HttpTransportTest, StreamsDownloadsWithinLittleMemory) {
  const std::uint64_t before = resident_bytes();
  std::uint64_t most = 0;
  std::uint64_t at = 0;
  std::uint64_t wrong = 0;
  const auto sink = [&](std::string_view bytes) {
    for (const char c : bytes) wrong += c == pattern_at(at++) ? 0U : 1U;
    most = std::max(most, resident_bytes());
    return true;
  };
  const auto response =
      client_.get({.url = server_.url("/bytes/" + std::to_string(kMuch)), .sink = sink});
  ASSERT_TRUE(response.ok()) << response.error().message;
  EXPECT_EQ(at, kMuch);
  EXPECT_EQ(wrong, 0U);
  EXPECT_FALSE(response->stopped);
  EXPECT_EQ(response->body, "");
  EXPECT_EQ(response->wire_bytes, kMuch);
  EXPECT_LT(most, before + (16U << 20));
}

TEST_F(HttpTransportTest, StopsWhenTheSinkSaysSo) {
  std::uint64_t taken = 0;
  const auto response =
      client_.get({.url = server_.url("/bytes/" + std::to_string(kMuch)), .sink = [&](auto bytes) {
                     taken += bytes.size();
                     return taken < 100'000;
                   }});
  ASSERT_TRUE(response.ok()) << response.error().message;
  EXPECT_TRUE(response->stopped);
  EXPECT_EQ(response->status, 200);
  EXPECT_GE(taken, 100'000U);
  EXPECT_LT(taken, 1'000'000U);
  EXPECT_TRUE(get("/echo").ok());
}

TEST_F(HttpTransportTest, GivesOnlyBodiesOfSuccessToTheSink) {
  const auto response = client_.get({.url = server_.url("/status/404"), .sink = [](auto) {
                                       ADD_FAILURE();
                                       return true;
                                     }});
  EXPECT_EQ(response->body, "status");
}

TEST_F(HttpTransportTest, LeavesBodiesCompressedIfAsked) {
  const auto packed = client_.get({.url = server_.url("/gzip"), .decompress = false});
  EXPECT_TRUE(packed->body.starts_with("\x1f\x8b"));
  EXPECT_THAT(client_.get({.url = server_.url("/echo"), .decompress = false})->body,
              Not(HasSubstr("Accept-Encoding")));
}

TEST_F(HttpTransportTest, FailsWithTheErrorOfTheSource) {
  const auto fails = [](std::span<char>) -> Result<std::size_t> {
    return Error{Code::kDataLoss, "the disk is broken"};
  };
  const auto failed =
      client_.get({.url = server_.url("/take"), .body = HttpBody{.type = "", .source = fails}});
  EXPECT_EQ(failed.error().code, Code::kDataLoss);
  EXPECT_THAT(failed.error().message, HasSubstr("the disk is broken"));
  const auto cut =
      client_.get({.url = server_.url("/take"),
                   .body = HttpBody{.type = "", .source = pattern_source(10), .length = 20}});
  EXPECT_THAT(cut.error().message, HasSubstr("ends after 10 of 20 bytes"));
  EXPECT_TRUE(get("/echo").ok());
}

TEST_F(HttpTransportTest, SignsEachRequestJustBeforeItIsSent) {
  HttpOptions options = transport_options();
  options.transfers = 1;
  HttpClient client(options);
  std::vector<std::string> order;
  for (const std::string name : {"a", "b", "c"}) {
    HttpRequest request{.url = server_.url("/echo?" + name),
                        .headers = {{"X-Mine", "1"}},
                        .body = HttpBody{"text/plain", "body " + name}};
    request.signer = [&, name](const OutgoingRequest& outgoing) -> Status {
      order.push_back("sign " + name);
      EXPECT_EQ(outgoing.method, "POST");
      EXPECT_EQ(outgoing.url.query(), name);
      EXPECT_EQ(outgoing.body->bytes, "body " + name);
      EXPECT_THAT(outgoing.headers,
                  ElementsAre(Header{"X-Mine", "1"}, Header{"Content-Type", "text/plain"}));
      outgoing.headers.push_back({"Authorization", "signature-" + name});
      return Done{};
    };
    client.submit(std::move(request), [&, name](HttpOutcome outcome) {
      order.push_back("done " + name);
      EXPECT_THAT(outcome.response->body,
                  AllOf(HasSubstr("Authorization: signature-" + name), HasSubstr("body " + name)));
    });
  }
  while (client.submitted() > 0) client.poll(1min);
  EXPECT_THAT(order, ElementsAre("sign a", "done a", "sign b", "done b", "sign c", "done c"));
}

TEST_F(HttpTransportTest, SendsNothingThatCannotBeSigned) {
  for (const Error& error :
       {Error{Code::kFailedPrecondition, "no key"}, Error{Code::kInvalidArgument, ""}}) {
    const auto outcome = client_.send({.url = server_.url("/closed/signed"),
                                       .signer = [&](const OutgoingRequest& outgoing) -> Status {
                                         if (!error.message.empty()) return error;
                                         outgoing.headers.push_back({"X", "a\r\nY: b"});
                                         return Done{};
                                       }});
    EXPECT_EQ(outcome.response.error().code, error.code);
    EXPECT_FALSE(outcome.may_have_been_sent);
  }
  EXPECT_EQ(get("/count/signed")->body, "0 0");
}

TEST_F(HttpTransportTest, LeavesRedirectsOfSignedRequestsToTheCaller) {
  const auto response =
      client_.get({.url = server_.url("/redirect/307/echo"),
                   .signer = [](const OutgoingRequest&) { return Status(Done{}); }});
  EXPECT_EQ(response->status, 307);
}

TEST_F(HttpTransportTest, SaysWhetherARequestMayHaveBeenSent) {
  EXPECT_TRUE(client_.send({.url = server_.url("/echo")}).may_have_been_sent);
  EXPECT_TRUE(client_.send({.url = server_.url("/closed")}).may_have_been_sent);
  for (const char* url :
       {"http://127.0.0.1:1023/", "http://no-such-host.invalid/", "nonsense", "http://10.0.0.1/"}) {
    const auto outcome = client_.send({.url = url});
    EXPECT_FALSE(outcome.response.ok());
    EXPECT_FALSE(outcome.may_have_been_sent) << url;
  }
}

TEST_F(HttpTransportTest, SendsNothingTwiceWhenAKeptConnectionIsClosed) {
  const std::pair<const char*, std::optional<HttpBody>> requests[] = {
      {"GET", {}}, {"DELETE", {}}, {"POST", HttpBody{"", "x"}}, {"PUT", HttpBody{"", ""}}};
  for (const auto& [method, body] : requests) {
    ASSERT_TRUE(get("/echo").ok());  // leaves a connection
    const std::string before = connections();
    const std::string name = method;
    const auto outcome =
        client_.send({.url = server_.url("/closed/" + name), .method = method, .body = body});
    ASSERT_FALSE(outcome.response.ok());
    EXPECT_EQ(outcome.response.error().code, Code::kUnavailable);
    EXPECT_THAT(outcome.response.error().message, HasSubstr("closed the connection")) << name;
    EXPECT_TRUE(outcome.may_have_been_sent);
    EXPECT_EQ(get("/count/" + name)->body, "1 0");
  }
}

TEST_F(HttpTransportTest, CancelsOneRequestAndNotTheOthers) {
  std::optional<HttpOutcome> hanging;
  std::optional<HttpOutcome> other;
  const HttpRequestId id = client_.submit({.url = server_.url("/hang")}, keep(hanging));
  client_.submit({.url = server_.url("/echo")}, keep(other));
  while (!other) client_.poll(1min);
  EXPECT_FALSE(hanging);
  client_.cancel(id);
  poll_all();
  ASSERT_TRUE(hanging);
  EXPECT_EQ(hanging->response.error().code, Code::kCancelled);
  EXPECT_TRUE(other->response.ok());
  client_.cancel(id);
  EXPECT_TRUE(get("/echo").ok());
}

TEST_F(HttpTransportTest, CancelsFromAnotherThreadWhilePolled) {
  std::optional<HttpOutcome> hanging;
  const HttpRequestId id = client_.submit({.url = server_.url("/hang")}, keep(hanging));
  std::thread other([&] { client_.cancel(id); });
  poll_all();
  other.join();
  EXPECT_EQ(hanging->response.error().code, Code::kCancelled);
}

TEST_F(HttpTransportTest, KeepsToDeadlines) {
  std::optional<HttpOutcome> late;
  // On a busy machine a deadline may pass before the request is sent; then a later one is tried.
  for (auto time = 200ms; time < 1min && !(late && late->may_have_been_sent); time *= 2) {
    client_.submit(
        {.url = server_.url("/hang"), .deadline = std::chrono::steady_clock::now() + time},
        keep(late));
    poll_all();
  }
  EXPECT_EQ(late->response.error().code, Code::kUnavailable);
  EXPECT_THAT(late->response.error().message,
              ::testing::ContainsRegex("no complete answer within [0-9.]+ s"));

  HttpOptions options = transport_options();
  options.transfers = 1;
  HttpClient client(options);
  client.submit({.url = server_.url("/hang")}, [](HttpOutcome) { FAIL(); });
  std::optional<HttpOutcome> queued;
  client.submit({.url = server_.url("/echo"), .deadline = std::chrono::steady_clock::now() + 200ms},
                keep(queued));
  while (!queued) client.poll(1min);
  EXPECT_THAT(queued->response.error().message, HasSubstr("deadline passed before it was sent"));
  EXPECT_FALSE(queued->may_have_been_sent);
}

TEST_F(HttpTransportTest, DeadlinesAndBudgetsGoByTheGivenClock) {
  ManualClock clock;
  HttpOptions options = transport_options();
  options.transfers = 2;
  options.budgets.total = 30s;
  options.clock = &clock;
  HttpClient client(options);
  std::optional<HttpOutcome> with_deadline, with_budget, queued;
  client.submit({.url = server_.url("/hang"), .deadline = clock.steady_now() + 10s},
                keep(with_deadline));
  client.submit({.url = server_.url("/hang")}, keep(with_budget));
  client.submit({.url = server_.url("/echo"), .deadline = clock.steady_now() + 5s}, keep(queued));
  EXPECT_EQ(client.poll(0ms), 0U);  // they have started, and no time passes
  clock.advance(6s);
  while (!queued) client.poll(1s);
  EXPECT_THAT(queued->response.error().message, HasSubstr("deadline passed before it was sent"));
  EXPECT_FALSE(with_deadline);
  clock.advance(5s);
  while (!with_deadline) client.poll(1s);
  EXPECT_THAT(with_deadline->response.error().message, HasSubstr("no complete answer within 10 s"));
  EXPECT_FALSE(with_budget);
  clock.advance(20s);
  while (!with_budget) client.poll(1s);
  EXPECT_THAT(with_budget->response.error().message, HasSubstr("no complete answer within 30 s"));
}

TEST_F(HttpTransportTest, HasBudgetsForOneRequest) {
  const auto response =
      client_.get({.url = server_.url("/bytes/1000"), .budgets = HttpBudgets{.bytes = 999}});
  EXPECT_EQ(response.error().code, Code::kResourceExhausted);
  EXPECT_TRUE(get("/bytes/1000").ok());
  const auto sunk = client_.get({.url = server_.url("/bytes/5000000"),
                                 .sink = [](auto) { return true; },
                                 .budgets = HttpBudgets{.bytes = 4'000'000}});
  EXPECT_EQ(sunk.error().code, Code::kResourceExhausted);
}

TEST_F(HttpTransportTest, PollsWithoutWaitingAndWithoutRequests) {
  EXPECT_EQ(client_.poll(1h), 0U);
  std::optional<HttpOutcome> outcome;
  client_.submit({.url = server_.url("/echo")}, keep(outcome));
  while (!outcome) client_.poll(0ms);
  EXPECT_TRUE(outcome->response.ok());
}

TEST_F(HttpTransportTest, MayBeCalledFromDone) {
  std::string body;
  client_.submit({.url = server_.url("/echo")}, [&](HttpOutcome) {
    EXPECT_TRUE(get("/echo").ok());
    client_.submit({.url = server_.url("/bytes/3")},
                   [&](HttpOutcome outcome) { body = outcome.response->body; });
  });
  poll_all();
  EXPECT_EQ(body, std::string("\0\1\2", 3));
}

TEST_F(HttpTransportTest, ServesThreadsAtTheSameTime) {
  // Nobody gets an answer before all have asked: each thread's request makes progress whichever
  // thread drives.
  std::atomic<int> together = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back(
        [&] { together += get("/gather/threads/10")->body == "together" ? 1 : 0; });
  for (int i = 0; i < 2; ++i)
    client_.submit({.url = server_.url("/gather/threads/10")}, [&](HttpOutcome outcome) {
      together += outcome.response->body == "together" ? 1 : 0;
    });
  poll_all();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(together, 10);
}

TEST_F(HttpTransportTest, UsesAProxyOnlyIfAsked) {
  HttpOptions options = transport_options();
  options.proxy = server_.url("");
  HttpClient client(options);
  const auto response = client.get({.url = "http://no-such-host.invalid/echo"});
  ASSERT_TRUE(response.ok()) << response.error().message;
  EXPECT_THAT(response->body, HasSubstr("Host: no-such-host.invalid"));
}

TEST_F(HttpTransportTest, CanBeDestroyedWithRequestsInFlight) {
  HttpClient client(transport_options());
  client.submit({.url = server_.url("/hang")}, [](HttpOutcome) { FAIL(); });
  client.poll(0ms);
  client.submit({.url = server_.url("/hang")}, [](HttpOutcome) { FAIL(); });
}

TEST_F(HttpTransportTest, BatchesOfThreadsGetTheirOwnOutcomes) {
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      HttpBatch batch(client_);
      std::set<HttpRequestId> mine;
      for (int i = 0; i < 10; ++i) mine.insert(batch.add({.url = server_.url("/echo")}));
      int more = 5;
      while (auto finished = batch.next()) {
        if (!finished->outcome.response.ok() || mine.erase(finished->id) != 1) return;
        // Requests may follow from outcomes.
        if (more-- > 0) mine.insert(batch.add({.url = server_.url("/echo")}));
      }
      if (mine.empty() && batch.pending() == 0) ++right;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 4);
}

TEST_F(HttpTransportTest, ABatchWaitsNoLongerThanItIsTold) {
  HttpBatch batch(client_);
  EXPECT_FALSE(batch.next(1min));
  batch.add({.url = server_.url("/hang")});
  EXPECT_FALSE(batch.next(10ms));
  EXPECT_EQ(batch.pending(), 1U);
}

TEST_F(HttpTransportTest, ABatchThatIsLeftEndsItsRequests) {
  { HttpBatch(client_).add({.url = server_.url("/hang")}); }
  EXPECT_TRUE(get("/echo").ok());
}

}  // namespace
}  // namespace kin::net
