#include "server/watch/watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/testing/manual_clock.h"
#include "rpc/request_id.h"

namespace kin::server {
namespace {

using testing::HasSubstr;
using testing::Not;

class WatchTest : public testing::Test {
 protected:
  WatchTest() {
    auto opened = Watch::open((folder_.path() / "log").string(), clock_);
    EXPECT_TRUE(opened.ok());
    watch_ = std::move(*opened);
  }

  // A route whose handler takes 250 ms and answers with the id that calls to nodes would carry.
  Plan plan() {
    return {.handler =
                [this](const Request&) {
                  clock_.advance(std::chrono::milliseconds{250});
                  return Response{.status = 200, .body = rpc::current_request_id()};
                },
            .route = "/api/v1/indexes/{name}/search"};
  }
  Response answer(const Request& request) {
    return watch_->watched(request, plan()).handler(request);
  }
  std::string log() const { return *read_file(folder_.path() / "log"); }
  std::string metrics(std::vector<Gauge> gauges = {}) const {
    return watch_->metrics_page(std::move(gauges)).body;
  }

  TemporaryFolder folder_ = std::move(*TemporaryFolder::create());
  ManualClock clock_;
  std::unique_ptr<Watch> watch_;
};

Request request_with(std::vector<net::Header> headers) {
  return {.method = "GET",
          .target = "/api/v1/indexes/papers/search?q=secret",
          .path = "/api/v1/indexes/papers/search",
          .headers = std::move(headers)};
}

TEST_F(WatchTest, KeepsTheIdOfTheClient) {
  const Response response = answer(request_with({{"X-Request-Id", "abc-7"}}));
  EXPECT_EQ(response.body, "abc-7");
  EXPECT_EQ(net::find_header(response.headers, "X-Request-Id"), "abc-7");
  EXPECT_THAT(log(), HasSubstr("\"request\":\"abc-7\""));
  EXPECT_EQ(rpc::current_request_id(), "") << "the scope has ended";
}

TEST_F(WatchTest, GivesEveryOtherRequestAnIdOfItsOwn) {
  const std::string odd("a\nb");
  const std::string one = answer(request_with({{"X-Request-Id", odd}})).body;
  const std::string other = answer(request_with({})).body;
  EXPECT_EQ(one.size(), 16U);
  EXPECT_NE(one, other);
  EXPECT_THAT(log(), Not(HasSubstr("a\\nb")));
}

TEST_F(WatchTest, LogsOneLineOfJsonWithoutTheQuery) {
  answer(request_with({{"X-Request-Id", "r1"}}));
  EXPECT_THAT(log(), HasSubstr("\"request\":\"r1\",\"method\":\"GET\",\"path\":\"/api/v1/indexes/"
                               "papers/search\",\"status\":200,\"ms\":250}\n"));
  EXPECT_THAT(log(), Not(HasSubstr("secret")));
}

TEST_F(WatchTest, CountsRequestsByRouteAndRefusalsWithout) {
  answer(request_with({}));
  const Plan refused = watch_->watched(request_with({}), {.refusal = error_response(401, "no")});
  EXPECT_TRUE(net::find_header(refused.refusal->headers, "X-Request-Id"));
  const std::string text = metrics();
  EXPECT_THAT(text, HasSubstr("kindred_http_request_seconds_count{method=\"GET\",route=\"/api/v1/"
                              "indexes/{name}/search\",status=\"200\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("kindred_http_request_seconds_count{method=\"GET\",route=\"\","
                              "status=\"401\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("le=\"0.2\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("le=\"0.5\"} 1\n"));
}

TEST_F(WatchTest, CountsCallsOfBothSides) {
  watch_->metrics().called("10.0.0.7:7700", "find", "unavailable", std::chrono::milliseconds{3});
  watch_->served({.request_id = "r9",
                  .index = "papers",
                  .kind = "find",
                  .outcome = "ok",
                  .took = std::chrono::milliseconds{3}});
  const std::string text = metrics();
  EXPECT_THAT(text,
              HasSubstr("kindred_node_call_seconds_count{call=\"find\",node=\"10.0.0.7:7700\","
                        "outcome=\"unavailable\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("kindred_served_call_seconds_count{call=\"find\",index=\"papers\","
                              "outcome=\"ok\"} 1\n"));
  EXPECT_THAT(log(), HasSubstr("\"request\":\"r9\",\"index\":\"papers\",\"call\":\"find\","
                               "\"outcome\":\"ok\",\"ms\":3}\n"));
}

TEST_F(WatchTest, CountsReadsFromOlderStates) {
  watch_->metrics().read_stale("papers", std::chrono::milliseconds{300});
  const std::string text = watch_->metrics().text();
  EXPECT_THAT(text, HasSubstr("kindred_stale_read_behind_seconds_count{index=\"papers\"} 1"));
  EXPECT_THAT(text, HasSubstr("kindred_stale_read_behind_seconds_sum{index=\"papers\"} 0.3"));
}

TEST_F(WatchTest, CountsCallsToFollowersByTheirReason) {
  watch_->metrics().asked_follower("papers", "slow");
  watch_->metrics().asked_follower("papers", "slow");
  watch_->metrics().follower_answered("papers", "slow");
  watch_->metrics().asked_follower("papers", "away");
  const std::string text = watch_->metrics().text();
  EXPECT_THAT(text, HasSubstr("kindred_follower_calls{index=\"papers\",why=\"slow\"} 2"));
  EXPECT_THAT(text, HasSubstr("kindred_follower_calls{index=\"papers\",why=\"away\"} 1"));
  EXPECT_THAT(text, HasSubstr("kindred_follower_answers{index=\"papers\",why=\"slow\"} 1"));
}

TEST_F(WatchTest, GaugesOfOneNameAreOneFamily) {
  const std::string text = metrics({{.name = "kindred_shard_entities",
                                     .help = "Entities in a shard.",
                                     .labels = {{"index", "a"}},
                                     .value = 3},
                                    {.name = "kindred_shard_entities",
                                     .help = "Entities in a shard.",
                                     .labels = {{"index", "b\"c"}},
                                     .value = 4}});
  EXPECT_THAT(text, HasSubstr("# TYPE kindred_shard_entities gauge\n"
                              "kindred_shard_entities{index=\"a\"} 3\n"
                              "kindred_shard_entities{index=\"b\\\"c\"} 4\n"));
  EXPECT_THAT(text, HasSubstr("process_resident_memory_bytes"));
}

TEST(RequestLog, NamesTheFileThatCannotBeWritten) {
  const ManualClock clock;
  const auto opened = RequestLog::open("/no/such/folder/log", clock);
  ASSERT_FALSE(opened.ok());
  EXPECT_THAT(opened.error().message, HasSubstr("/no/such/folder/log"));
}

}  // namespace
}  // namespace kin::server
