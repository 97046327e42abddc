#include "server/http/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <thread>

#include "base/testing/manual_clock.h"
#include "server/http/event_stream.h"
#include "server/testing/test_client.h"

namespace kin::server {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;
using testing::HasSubstr;
using testing::StartsWith;

// A server with a handful of routes.
class Served {
 public:
  // With a `clock`, connection limits are measured by it.
  explicit Served(ServerLimits limits = {}, EventOptions events = {}, ManualClock* clock = nullptr)
      : events_(std::make_shared<EventStream>(events)) {
    routes_.add(
        {.method = "GET", .pattern = "/fast", .handler = text("fast"), .lane = Lane::kInline});
    routes_.add({.method = "GET", .pattern = "/quick", .handler = text("quick")});
    routes_.add({.method = "POST",
                 .pattern = "/echo",
                 .handler = [](const Request& request,
                               std::uint64_t) { return Response{.body = request.body}; },
                 .most_body = 1000});
    routes_.add({.method = "GET",
                 .pattern = "/slow",
                 .handler =
                     [this](const Request&, std::uint64_t) {
                       std::unique_lock guard(lock_);
                       ++waiting_;
                       changed_.notify_all();
                       changed_.wait(guard, [this] { return released_; });
                       return Response{.body = "slow"};
                     },
                 .lane = Lane::kSlow});
    routes_.add(
        {.method = "GET",
         .pattern = "/throw",
         .handler = [](const Request&, std::uint64_t) -> Response { throw std::bad_alloc(); }});
    routes_.add(
        {.method = "GET", .pattern = "/big", .handler = [this](const Request&, std::uint64_t) {
           ++big_answers_;
           return Response{.body = std::string(64 << 20, 'x')};
         }});
    routes_.add({.method = "GET",
                 .pattern = "/events",
                 .handler =
                     [this](const Request&, std::uint64_t) {
                       return Response{.headers = {{"Content-Type", "text/event-stream"}},
                                       .events = events_};
                     },
                 .lane = Lane::kInline});
    ServerOptions options;
    options.limits = limits;
    if (clock != nullptr) {
      options.clock = clock;
      options.clock_tick = milliseconds(1);
    }
    options.headers = {{"X-Everywhere", "yes"}};
    auto server = HttpServer::start(std::move(options),
                                    [this](const Request& head) { return routes_.plan(head); });
    KIN_CHECK(server.ok(), "the server starts");
    server_ = std::move(*server);
  }
  ~Served() { release(); }

  int port() const { return server_->port(); }
  TestClient client() const { return TestClient(port()); }
  HttpServer& server() { return *server_; }
  EventStream& events() { return *events_; }
  int big_answers() const { return big_answers_; }

  void await_slow(int count) {
    std::unique_lock guard(lock_);
    changed_.wait(guard, [&] { return waiting_ >= count; });
  }
  void release() {
    const std::lock_guard guard(lock_);
    released_ = true;
    changed_.notify_all();
  }

 private:
  static std::function<Response(const Request&, std::uint64_t)> text(std::string body) {
    return [body](const Request&, std::uint64_t) { return Response{.body = body}; };
  }

  RouteTable routes_;
  std::shared_ptr<EventStream> events_;
  std::mutex lock_;
  std::condition_variable changed_;
  std::atomic<int> big_answers_ = 0;
  int waiting_ = 0;
  bool released_ = false;
  std::unique_ptr<HttpServer> server_;
};

// Moves the clock on, a second at a time, until the server hangs up.
bool ends_in_time(TestClient& client, ManualClock& clock) {
  return eventually([&] {
    clock.advance(seconds(1));
    return client.ended(milliseconds(1));
  });
}

TEST(HttpServer, KeepsAConnectionForManyRequests) {
  Served served;
  TestClient client = served.client();
  for (int i = 0; i < 5; ++i) {
    const RawAnswer answer = client.ask(request_text("GET", i % 2 == 0 ? "/fast" : "/quick"));
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.body, i % 2 == 0 ? "fast" : "quick");
    EXPECT_EQ(answer.header("X-Everywhere"), "yes");
  }
  EXPECT_EQ(served.server().connections(), 1U);
}

TEST(HttpServer, AnswersPipelinedRequestsInOrder) {
  Served served;
  TestClient client = served.client();
  client.send(request_text("GET", "/quick") + request_text("POST", "/echo", {}, "one") +
              request_text("GET", "/fast"));
  EXPECT_EQ(client.answer().body, "quick");
  EXPECT_EQ(client.answer().body, "one");
  EXPECT_EQ(client.answer().body, "fast");
}

TEST(HttpServer, AnswersHeadWithoutABody) {
  Served served;
  TestClient client = served.client();
  const RawAnswer head = client.ask(request_text("HEAD", "/fast"));
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.header("Content-Length"), "4");
  EXPECT_EQ(client.ask(request_text("GET", "/quick")).body, "quick");
}

TEST(HttpServer, ClosesWhenAskedTo) {
  Served served;
  TestClient client = served.client();
  const RawAnswer answer = client.ask(request_text("GET", "/fast", "Connection: close\r\n"));
  EXPECT_EQ(answer.header("Connection"), "close");
  EXPECT_TRUE(client.ended());
}

TEST(HttpServer, SpeaksHttp10) {
  Served served;
  TestClient client = served.client();
  EXPECT_EQ(client.ask("GET /fast HTTP/1.0\r\nHost: localhost\r\n\r\n").body, "fast");
  EXPECT_TRUE(client.ended());
}

TEST(HttpServer, RefusesWhatIsNotHttp) {
  Served served;
  for (const std::string_view bytes :
       {"\x16\x03\x01\x02\x01\x01\x01\xfc\x03\x03\r\n\r\n", "GET\r\n\r\n",
        "GET /fast HTTP/9.9\r\n\r\n", "GET /fast HTTP/1.1\r\nNo colon\r\n\r\n",
        "G@T /fast HTTP/1.1\r\n\r\n", "GET http://localhost/fast HTTP/1.1\r\nHost: x\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
        "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: "
        "chunked\r\n\r\n0\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n", "GET /%00 HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET /fast?q=%ff HTTP/1.1\r\nHost: x\r\n\r\n"}) {
    TestClient client = served.client();
    const RawAnswer answer = client.ask(bytes);
    EXPECT_EQ(answer.status, 400) << bytes;
    EXPECT_THAT(answer.body, StartsWith(R"({"error":{"code":"invalid","message":")")) << bytes;
    EXPECT_EQ(answer.header("X-Everywhere"), "yes");
  }
}

// A proxy and this server must agree on where a body ends.
TEST(HttpServer, RefusesBodiesWhoseEndIsNotCertain) {
  Served served;
  const std::string smuggled = "0\r\n\r\nGET /fast HTTP/1.1\r\nHost: x\r\n\r\n";
  for (const char* fields :
       {"HTTP/1.1\r\nTransfer-Encoding: xchunked\r\n",
        "HTTP/1.1\r\nTransfer-Encoding: identity\r\n",
        "HTTP/1.1\r\nTransfer-Encoding: chunked, identity\r\n",
        "HTTP/1.1\r\nTransfer-Encoding: chunked, chunked\r\n",
        "HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n",
        "HTTP/1.1\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
        "HTTP/1.1\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
        "HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n",
        "HTTP/1.1\r\nTransfer-Encoding: \r\n", "HTTP/1.1\r\nTransfer-Encoding: \"chunked\"\r\n",
        "HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n"}) {
    for (const char* method : {"POST", "GET"}) {
      TestClient client = served.client();
      const RawAnswer answer =
          client.ask(method + std::string(" /echo ") + fields + "Host: x\r\n\r\n" + smuggled);
      EXPECT_EQ(answer.status, 400) << fields;
      EXPECT_EQ(answer.header("Connection"), "close") << fields;
      EXPECT_EQ(client.answer().status, 0) << fields;
    }
  }
  TestClient client = served.client();
  EXPECT_EQ(client
                .ask("POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: CHUNKED\r\n\r\n"
                     "3\r\nabc\r\n0\r\n\r\n")
                .body,
            "abc");
}

TEST(HttpServer, RefusesHugeHeaders) {
  Served served;
  TestClient client = served.client();
  const RawAnswer answer = client.ask("GET /fast HTTP/1.1\r\nX: " + std::string(20'000, 'x'));
  EXPECT_EQ(answer.status, 431);
  EXPECT_TRUE(client.ended());
}

TEST(HttpServer, RefusesHugeBodiesBeforeTheyAreSent) {
  Served served;
  TestClient declared = served.client();
  EXPECT_EQ(declared.ask("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1001\r\n\r\n").status,
            413);
  EXPECT_TRUE(declared.ended());
  TestClient beyond_all = served.client();
  EXPECT_EQ(beyond_all.ask("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n")
                .status,
            413);
  TestClient chunked = served.client();
  EXPECT_EQ(chunked
                .ask("POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
                     "3e9\r\n" +
                     std::string(1001, 'x') + "\r\n0\r\n\r\n")
                .status,
            413);
}

// The answer must not be lost to a reset while the client still sends.
TEST(HttpServer, TellsAClientThatIsStillSending) {
  Served served;
  TestClient client = served.client();
  client.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 2000000\r\n\r\n");
  client.send(std::string(2'000'000, 'x'));
  EXPECT_EQ(client.answer().status, 413);
}

TEST(HttpServer, TakesBodiesInChunksAndByInvitation) {
  Served served;
  TestClient client = served.client();
  EXPECT_EQ(client
                .ask("POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
                     "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")
                .body,
            "abcde");
  client.send(
      "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(client.read_to("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_EQ(client.ask("xyz").body, "xyz");
}

TEST(HttpServer, HangsUpOnClientsThatNeverFinishTheirHeader) {
  ManualClock clock;
  Served served({.header_time = seconds(10)}, {}, &clock);
  TestClient patient = served.client();
  patient.send("GET /fast HTTP/1.1\r\n");
  clock.advance(seconds(9));
  EXPECT_EQ(patient.ask("Host: localhost\r\n\r\n").status, 200);
  TestClient slow = served.client();
  slow.send("GET /fast HTTP/1.1\r\n");
  const auto one_more_line = [&] {
    slow.send("X: y\r\n");
    clock.advance(seconds(1));
    return slow.ended(milliseconds(1));
  };
  EXPECT_TRUE(eventually(one_more_line));
  EXPECT_EQ(slow.answer().status, 0);
}

TEST(HttpServer, HangsUpOnClientsThatNeverFinishTheirBody) {
  ManualClock clock;
  Served served({.transfer_time = seconds(30)}, {}, &clock);
  TestClient slow = served.client();
  slow.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n");
  clock.advance(seconds(9));
  EXPECT_EQ(slow.ask(std::string(100, 'x')).body, std::string(100, 'x'));
  slow.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n");
  EXPECT_TRUE(ends_in_time(slow, clock));
  EXPECT_EQ(slow.answer().status, 0);
}

TEST(HttpServer, HangsUpOnClientsThatDoNotReadTheirAnswer) {
  ManualClock clock;
  Served served({}, {}, &clock);
  TestClient client(served.port(), 4096);
  client.send(request_text("GET", "/big"));
  ASSERT_TRUE(eventually([&] { return served.big_answers() == 1; }));
  EXPECT_EQ(served.server().connections(), 1U);
  EXPECT_TRUE(eventually([&] {
    clock.advance(seconds(60));
    return served.server().connections() == 0;
  }));
}

TEST(HttpServer, ClosesIdleConnections) {
  ManualClock clock;
  // The client may have an answer before the server notices that it is sent: the limit for sending
  // must not expire when the clock moves then.
  Served served({.idle = seconds(75), .transfer_time = hours(1)}, {}, &clock);
  TestClient client = served.client();
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(client.ask(request_text("GET", "/fast")).status, 200);
    clock.advance(seconds(74));
  }
  EXPECT_EQ(client.ask(request_text("GET", "/fast")).status, 200);
  EXPECT_TRUE(ends_in_time(client, clock));
}

// The limits are for the client, not for the handler.
TEST(HttpServer, WaitsForSlowAnswers) {
  ManualClock clock;
  Served served({}, {}, &clock);
  TestClient client = served.client();
  client.send(request_text("GET", "/slow"));
  served.await_slow(1);
  clock.advance(hours(1));
  EXPECT_FALSE(client.ended(milliseconds(20)));
  served.release();
  EXPECT_EQ(client.answer().body, "slow");
}

TEST(HttpServer, SaysThatItIsFull) {
  Served served({.connections = 2});
  TestClient first = served.client();
  TestClient second = served.client();
  EXPECT_EQ(first.ask(request_text("GET", "/fast")).status, 200);
  EXPECT_EQ(second.ask(request_text("GET", "/fast")).status, 200);
  TestClient third = served.client();
  const RawAnswer answer = third.answer();
  EXPECT_EQ(answer.status, 503);
  EXPECT_THAT(answer.body, HasSubstr("too many connections"));
  EXPECT_EQ(first.ask(request_text("GET", "/fast")).status, 200);
}

TEST(HttpServer, AnswersOthersWhileSomeWaitForTheNetwork) {
  Served served;
  std::vector<TestClient> slow;
  for (int i = 0; i < 6; ++i) {
    slow.push_back(served.client());
    slow.back().send(request_text("GET", "/slow"));
  }
  served.await_slow(4);
  TestClient client = served.client();
  EXPECT_EQ(client.ask(request_text("GET", "/quick")).body, "quick");
  served.release();
  for (TestClient& one : slow) EXPECT_EQ(one.answer().body, "slow");
}

TEST(HttpServer, SurvivesAHandlerThatThrows) {
  Served served;
  TestClient client = served.client();
  EXPECT_EQ(client.ask(request_text("GET", "/throw")).status, 500);
  EXPECT_EQ(client.ask(request_text("GET", "/fast")).status, 200);
}

TEST(HttpServer, FinishesRunningRequestsWhenItStops) {
  Served served;
  TestClient idle = served.client();
  TestClient busy = served.client();
  EXPECT_EQ(idle.ask(request_text("GET", "/fast")).status, 200);
  busy.send(request_text("GET", "/slow"));
  served.await_slow(1);
  std::thread stopping([&] { served.server().stop(); });
  EXPECT_TRUE(idle.ended());
  served.release();
  EXPECT_EQ(busy.answer().body, "slow");
  stopping.join();
  EXPECT_FALSE(served.client().connected());
}

TEST(HttpServer, SaysThatAPortIsInUse) {
  Served served;
  ServerOptions options;
  options.port = static_cast<std::uint16_t>(served.port());
  const auto second = HttpServer::start(std::move(options), [](const Request&) { return Plan{}; });
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, Code::kFailedPrecondition);
  EXPECT_THAT(second.error().message, HasSubstr("is in use"));
}

TEST(HttpServer, SaysWhatIsWrongWithAnAddressOrACertificate) {
  ServerOptions nowhere;
  nowhere.address = "nowhere";
  EXPECT_EQ(HttpServer::start(std::move(nowhere), {}).error().code, Code::kInvalidArgument);
  ServerOptions no_files;
  no_files.tls = std::make_unique<TlsFiles>(TlsFiles{"/no/cert.pem", "/no/key.pem"});
  EXPECT_THAT(HttpServer::start(std::move(no_files), {}).error().message,
              HasSubstr("/no/cert.pem"));
}

// --- events ---

std::string open_events(TestClient& client, std::string_view fields = {}) {
  client.send(request_text("GET", "/events", fields));
  client.read_to("\r\n\r\n");
  return client.read_to("\n\n");
}

TEST(Events, ReachEveryClientInOrder) {
  Served served({}, {.last_id = 40});
  std::vector<TestClient> clients;
  for (int i = 0; i < 5; ++i) {
    clients.push_back(served.client());
    EXPECT_EQ(open_events(clients.back()), "retry: 2000\nid: 40\n\n");
  }
  served.events().publish("news", R"({"changed":[1]})");
  served.events().publish("news", R"({"changed":[2]})");
  for (TestClient& client : clients) {
    EXPECT_EQ(client.read_to("\n\n"), "id: 41\nevent: news\ndata: {\"changed\":[1]}\n\n");
    EXPECT_EQ(client.read_to("\n\n"), "id: 42\nevent: news\ndata: {\"changed\":[2]}\n\n");
  }
}

// A page loads its data when the stream is open, and gets later changes as events.
TEST(Events, ReachAClientFromTheMomentItHasTheHead) {
  Served served;
  TestClient client = served.client();
  client.send(request_text("GET", "/events"));
  EXPECT_THAT(client.read_to("\r\n\r\n"), HasSubstr("text/event-stream"));
  EXPECT_EQ(served.events().clients(), 1U);
}

TEST(Events, TellAClientThatComesBackWhetherItMissedSomething) {
  Served served({}, {.last_id = 40});
  TestClient nothing_missed = served.client();
  EXPECT_EQ(open_events(nothing_missed, "Last-Event-ID: 40\r\n"), "retry: 2000\nid: 40\n\n");
  served.events().publish("news", "{}");
  for (const std::string_view last :
       {"Last-Event-ID: 40\r\n", "Last-Event-ID: 99\r\n", "Last-Event-ID: nonsense\r\n"}) {
    TestClient client = served.client();
    EXPECT_EQ(open_events(client, last), "retry: 2000\nid: 41\nevent: reset\ndata: {}\n\n");
  }
}

TEST(Events, PingAndNoticeClientsThatLeave) {
  Served served({.ping = milliseconds(50)});
  {
    TestClient client = served.client();
    open_events(client);
    EXPECT_EQ(client.read_to("\n\n"), ": ping\n\n");
    EXPECT_EQ(client.read_to("\n\n"), ": ping\n\n");
    EXPECT_EQ(served.events().clients(), 1U);
  }
  EXPECT_TRUE(eventually([&] { return served.events().clients() == 0; }));
  EXPECT_TRUE(eventually([&] { return served.server().connections() == 0; }));
}

TEST(Events, DropAClientThatDoesNotRead) {
  Served served({}, {.most_pending = 100'000});
  TestClient slow(served.port(), 4096);
  TestClient good = served.client();
  open_events(slow);
  open_events(good);
  const std::string data(20'000, 'x');
  int published = 0;
  while (served.events().dropped() == 0 && published < 10'000) {
    served.events().publish("news", data);
    ++published;
    EXPECT_THAT(good.read_to("\n\n"), HasSubstr("event: news"));
  }
  EXPECT_EQ(served.events().dropped(), 1U);
  EXPECT_TRUE(eventually([&] { return served.events().clients() == 1; }));
  served.events().publish("last", "{}");
  EXPECT_THAT(good.read_to("\n\n"), HasSubstr("event: last"));
}

TEST(Events, EndWhenTheServerStops) {
  Served served({.grace = hours(1)});
  TestClient client = served.client();
  open_events(client);
  expect_to_return([&] { served.server().stop(); });
  EXPECT_TRUE(client.ended());
}

TEST(HttpServer, AnswersBesideThousandsOfConnections) {
  Served served;
  std::vector<TestClient> idle;
  std::vector<TestClient> listening;
  for (int i = 0; i < 1'000; ++i) {
    idle.push_back(served.client());
    ASSERT_TRUE(idle.back().connected());
    listening.push_back(served.client());
    listening.back().send(request_text("GET", "/events"));
  }
  ASSERT_TRUE(eventually([&] { return served.events().clients() == 1'000; }));
  ASSERT_TRUE(eventually([&] { return served.server().connections() == 2'000; }));
  TestClient client = served.client();
  std::vector<double> times;
  for (int i = 0; i < 200; ++i) {
    const auto start = steady_clock::now();
    ASSERT_EQ(client.ask(request_text("GET", "/quick")).body, "quick");
    times.push_back(std::chrono::duration<double, std::milli>(steady_clock::now() - start).count());
  }
  std::sort(times.begin(), times.end());
  const auto start = steady_clock::now();
  served.events().publish("news", "{}");
  for (TestClient& one : listening)
    EXPECT_THAT(one.read_to("news\ndata: {}\n\n"), HasSubstr("news"));
  const double fan_out =
      std::chrono::duration<double, std::milli>(steady_clock::now() - start).count();
  RecordProperty("median_ms", std::to_string(times[100]));
  std::printf(
      "2,000 connections: an answer takes %.3f ms (median), %.3f ms (p99); an event reaches "
      "1,000 clients in %.1f ms\n",
      times[100], times[198], fan_out);
}

}  // namespace
}  // namespace kin::server
