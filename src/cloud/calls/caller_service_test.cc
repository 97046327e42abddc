#include "cloud/calls/caller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/ascii.h"
#include "base/testing/manual_clock.h"
#include "cloud/testing/services.h"

namespace kin::cloud {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;
using namespace std::chrono_literals;

Verdict judge(const net::HttpResponse& response) {
  switch (response.status) {
    case 200: return Verdict::kDone;
    case 403: return Verdict::kSkewed;
    case 429: return Verdict::kThrottled;
    case 500:
    case 503: return Verdict::kRetry;
    default: return Verdict::kFailed;
  }
}

class CallerTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { server = start_program("scripted.py").release(); }
  static void TearDownTestSuite() { delete server; }

  CallerTest() { options_.retry = {.tries = 6, .base = 100ms, .longest = 10s, .deadline = 10min}; }

  Result<Answer> run(const std::string& script) {
    Caller caller(options_, {.name = "s3", .judge = &judge}, clock_, 7);
    name_ = "n" + std::to_string(++number_);
    auto answer = caller.call(
        {.method = "PUT", .url = server->url("/script/" + name_ + "/" + script), .body = "x"});
    counts_ = caller.counts();
    return answer;
  }
  int status(const std::string& script) {
    const auto answer = run(script);
    return answer ? answer->response.status : -1;
  }
  // The times of the requests of the last run, as their signatures have them.
  std::vector<std::string> times() {
    net::HttpClient client({.addresses = {.allow_all = true}});
    const auto seen = client.get({.url = server->url("/seen/" + name_)});
    std::vector<std::string> lines;
    for (std::string_view rest = seen->body; !rest.empty();)
      lines.emplace_back(take_until(rest, "\n"));
    return lines;
  }

  static net::TestServer* server;
  static int number_;
  ManualClock clock_;
  CloudOptions options_ = test_options("");
  std::string name_;
  CallCounts counts_;
};

net::TestServer* CallerTest::server = nullptr;
int CallerTest::number_ = 0;

TEST_F(CallerTest, TriesAgainWhenItHelps) {
  for (const char* script : {"200", "503,200", "429,500,200", "reset,200", "half,200"})
    EXPECT_EQ(status(script), 200) << script;
  EXPECT_EQ(counts_.requests, 2U);
  EXPECT_EQ(counts_.retries, 1U);
  EXPECT_EQ(status("429,429,503,200"), 200);
  EXPECT_EQ(counts_.throttles, 2U);
  EXPECT_EQ(status("404,200"), 404);
  EXPECT_EQ(counts_.retries, 0U);
}

TEST_F(CallerTest, SaysWhenAnEarlierTryMayHaveTakenEffect) {
  EXPECT_FALSE(run("200")->ambiguous);
  EXPECT_FALSE(run("429,200")->ambiguous);
  EXPECT_TRUE(run("503,200")->ambiguous);
  EXPECT_TRUE(run("reset,200")->ambiguous);
  EXPECT_TRUE(run("half,429,404")->ambiguous);
}

TEST_F(CallerTest, WaitsByItsClockAndEndsAfterItsTries) {
  const SteadyTime start = clock_.steady_now();
  EXPECT_EQ(status("503"), 503);
  EXPECT_THAT(times(), SizeIs(6));
  // At most 0.1 + 0.2 + 0.4 + 0.8 + 1.6 seconds, and hardly ever almost nothing.
  EXPECT_LT(clock_.steady_now() - start, 3100ms);
  EXPECT_GT(clock_.steady_now() - start, 100ms);
  EXPECT_EQ(run("reset").error().code, Code::kUnavailable);
}

TEST_F(CallerTest, WaitsAsLongAsTheServerAsks) {
  const SteadyTime start = clock_.steady_now();
  EXPECT_EQ(status("wait,200"), 200);
  EXPECT_GE(clock_.steady_now() - start, 7s);
}

TEST_F(CallerTest, EndsAtItsDeadline) {
  options_.retry.deadline = 5s;
  EXPECT_EQ(status("wait,200"), 503);
  EXPECT_THAT(times(), SizeIs(1));
}

TEST_F(CallerTest, EndsWhenTheBudgetOfRetriesIsUsedUp) {
  options_.retry.budget = 2;
  EXPECT_EQ(status("503"), 503);
  EXPECT_THAT(times(), SizeIs(3));
}

TEST_F(CallerTest, GivesUpATryThatGetsNoAnswer) {
  options_.one_try = 300ms;
  options_.retry.tries = 30;
  EXPECT_EQ(status("hang,200"), 200);
}

TEST_F(CallerTest, LearnsTheTimeFromAServerThatRefusesItsOwn) {
  const WallTime start = clock_.now();
  EXPECT_EQ(status("later,200"), 200);
  EXPECT_THAT(times(), ElementsAre(amazon_time(start), amazon_time(start + 1h)));
}

TEST_F(CallerTest, HasManyCallsOnTheirWay) {
  Caller caller(options_, {.name = "s3", .judge = &judge}, clock_, 7);
  CallBatch batch(caller);
  int done = 0;
  for (int i = 0; i < 100; ++i) {
    const std::string script = i % 3 == 0 ? "429,200" : "200";
    batch.add({.method = "GET", .url = server->url("/script/m" + std::to_string(i) + "/" + script)},
              [&](Result<Answer> answer) {
                done += answer.ok() && answer->verdict == Verdict::kDone ? 1 : 0;
                // A call may follow from an answer.
                if (done == 1)
                  batch.add({.method = "GET", .url = server->url("/script/more/200")},
                            [&](Result<Answer> more) { done += more.ok() ? 1000 : 0; });
              });
  }
  batch.run();
  EXPECT_EQ(done, 1100);
  EXPECT_EQ(caller.counts().throttles, 34U);
}

TEST_F(CallerTest, TakesCallsAsThereIsRoom) {
  options_.in_flight = 4;
  Caller caller(options_, {.name = "s3", .judge = &judge}, system_clock(), 7);
  CallBatch batch(caller);
  int given = 0;
  int done = 0;
  int most = 0;
  batch.run([&] {
    if (given == 50) return false;
    batch.add(
        {.method = "GET", .url = server->url("/script/r" + std::to_string(++given) + "/503,200")},
        [&](const Result<Answer>& answer) {
          done += answer.ok() && answer->verdict == Verdict::kDone ? 1 : 0;
        });
    most = std::max(most, given - done);
    return true;
  });
  EXPECT_EQ(done, 50);
  EXPECT_EQ(most, 2 * options_.in_flight);
  EXPECT_EQ(caller.counts().requests, 100U);
  EXPECT_GT(caller.counts().in_flight_seconds, 0);
}

TEST_F(CallerTest, FailsWithoutCredentials) {
  options_.credentials = {.environment = environment_of({{"AWS_EC2_METADATA_DISABLED", "true"}})};
  EXPECT_EQ(run("200").error().code, Code::kFailedPrecondition);
}

}  // namespace
}  // namespace kin::cloud
