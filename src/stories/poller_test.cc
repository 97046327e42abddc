#include "stories/poller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stories/testing/news_fixture.h"

namespace kin::stories {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;
using namespace std::chrono_literals;

class PollerTest : public NewsroomTest {
 protected:
  std::chrono::nanoseconds time_to(const StepOutcome& outcome) {
    return outcome.next(clock_.steady_now()).value() - clock_.steady_now();
  }
  std::optional<Time> polled(FeedId feed) { return room_->feed(feed)->polled; }
};

TEST_F(PollerTest, PollsFeedsWhenTheyAreDue) {
  Poller poller(*room_, clock_, {});
  EXPECT_EQ(time_to(poller.step()), 1min) << "without feeds";
  const std::string url = server->publish("due", {{"Rain", kNow - 1h}});
  ASSERT_TRUE(room_->import_opml("<opml><body><outline xmlUrl='" + url + "'/></body></opml>").ok());
  EXPECT_EQ(time_to(poller.step()), 1min) << "no wait is longer";
  EXPECT_THAT(titles(), ElementsAre("Rain"));
  const FeedId feed = room_->feeds()->front().id;
  const Time due = room_->next_due()->value();
  clock_.advance(due - now() - 10s);
  EXPECT_EQ(time_to(poller.step()), 10s);
  EXPECT_EQ(polled(feed), kNow);
  clock_.advance(10s);
  EXPECT_GT(time_to(poller.step()), 0s);
  EXPECT_EQ(polled(feed), due);
}

TEST_F(PollerTest, PollsOnlyWhatItIsAskedForIfItIsNotAutomatic) {
  const FeedId one = add(server->publish("one", {{"Rain", kNow - 1h}}));
  const FeedId other = add(server->publish("other", {{"Snow", kNow - 1h}}));
  Poller poller(*room_, clock_, {.automatic = false});
  clock_.advance(48h);
  EXPECT_EQ(time_to(poller.step()), 1min);
  EXPECT_EQ(polled(one), kNow);
  poller.refresh(one);
  EXPECT_EQ(time_to(poller.step()), 1min);
  EXPECT_EQ(polled(one), now());
  EXPECT_EQ(polled(other), kNow);
  clock_.advance(1h);
  poller.refresh(std::nullopt);
  EXPECT_EQ(time_to(poller.step()), 1min);
  EXPECT_EQ(polled(one), now());
  EXPECT_EQ(polled(other), now());
}

TEST_F(PollerTest, PollsAFeedOnRequestOnceInAWhile) {
  const FeedId one = add(server->publish("one", {{"Rain", kNow - 1h}}));
  Poller poller(*room_, clock_, {.automatic = false, .request_gap = 30s});
  clock_.advance(10s);
  for (int round = 0; round < 20; ++round) poller.refresh(one);
  poller.refresh(std::nullopt);
  EXPECT_EQ(time_to(poller.step()), 20s) << "it was polled when it was added";
  EXPECT_EQ(polled(one), kNow);
  clock_.advance(20s);
  EXPECT_EQ(time_to(poller.step()), 1min);
  EXPECT_EQ(polled(one), now()) << "the request was held, not lost";
  clock_.advance(30s);
  EXPECT_EQ(time_to(poller.step()), 1min);
  EXPECT_EQ(polled(one), now() - 30s) << "all requests were one";
}

TEST_F(PollerTest, TakesARemovedFeedForNoFailure) {
  const FeedId feed = add(server->publish("removed", {{"Rain", kNow - 1h}}));
  std::vector<Error> problems;
  Poller poller(*room_, clock_, {.on_problem = [&](const Error& e) { problems.push_back(e); }});
  poller.refresh(feed);
  ASSERT_TRUE(room_->remove_feed(feed).ok());
  EXPECT_EQ(time_to(poller.step()), 1min);
  EXPECT_THAT(problems, SizeIs(0));
}

TEST_F(PollerTest, SweepsOnceADay) {
  const FeedId feed = add(server->publish("swept", {{"Rain", kNow - 1h}}));
  Poller poller(*room_, clock_, {.automatic = false});
  EXPECT_EQ(time_to(poller.step()), 1min);
  server->publish("swept", {{"Snow", kNow}});
  clock_.advance(24h * 100);
  poller.refresh(feed);
  EXPECT_EQ(time_to(poller.step()), 1min);
  EXPECT_THAT(titles(), ElementsAre("Snow"));
}

TEST_F(PollerTest, ReportsAFailureAndPauses) {
  add(server->publish("failing", {{"Rain", kNow - 1h}}));
  const auto reader = Newsroom::open_for_reading(folder()).value();
  std::vector<Error> problems;
  Poller poller(*reader, clock_, {.on_problem = [&](const Error& e) { problems.push_back(e); }});
  EXPECT_EQ(time_to(poller.step()), 30s);
  ASSERT_THAT(problems, SizeIs(1));
  EXPECT_EQ(problems[0].code, Code::kFailedPrecondition);
}

}  // namespace
}  // namespace kin::stories
