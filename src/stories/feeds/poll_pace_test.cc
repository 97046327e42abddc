#include "stories/feeds/poll_pace.h"

#include <gtest/gtest.h>

#include "stories/testing/feed_fixture.h"

namespace kin::stories {
namespace {

using namespace std::chrono_literals;
using std::chrono::seconds;
using Kind = PollSight::Kind;

// Polls a feed that changes every `period`, for `span`; returns the number of polls.
int polls_of(seconds period, seconds span) {
  PollPace pace;
  Random random(1);
  Time now = kNow;
  std::int64_t seen = -1;
  int polls = 0;
  for (; now < kNow + span; ++polls) {
    const std::int64_t version = (now - kNow) / period;
    const Kind kind = version != seen ? Kind::kChanged : Kind::kUnchanged;
    seen = version;
    now += next_wait(pace, {.kind = kind, .now = now}, {}, random);
  }
  return polls;
}

TEST(PollPace, FollowsHowOftenAFeedChanges) {
  const int busy = polls_of(10min, 24h);
  EXPECT_GT(busy, 144);  // at least as often as it changes
  EXPECT_LE(busy, 288);  // every five minutes
  const int hourly = polls_of(1h, 24h);
  EXPECT_GT(hourly, 20);
  EXPECT_LT(hourly, 80);
  EXPECT_LT(polls_of(72h, 24h * 30), 100);
}

TEST(PollPace, AsksAFeedThatSleepsOnceADay) {
  PollPace pace{.change_gap = 30min, .changed_at = kNow - 24h * 365};
  Random random(1);
  EXPECT_EQ(next_wait(pace, {.kind = Kind::kUnchanged, .now = kNow}, {}, random), 24h);
}

TEST(PollPace, IsGuessedFromTheDatesOfItems) {
  PollPace often, seldom;
  Random random(1);
  PollSight sight{.kind = Kind::kChanged, .now = kNow};
  for (int i = 0; i < 10; ++i) sight.published.push_back(kNow - i * 20min);
  EXPECT_LE(next_wait(often, sight, {}, random), 11min);
  sight.published = {kNow - 24h * 40, kNow - 24h * 80};
  EXPECT_EQ(next_wait(seldom, sight, {}, random), 24h);
  EXPECT_EQ(seldom.changed_at, kNow - 24h * 40);
}

TEST(PollPace, WaitsTwiceAsLongAfterEachFailure) {
  PollPace pace{.change_gap = 30min, .changed_at = kNow};
  Random random(7);
  seconds last{0};
  for (int i = 0; i < 12; ++i) {
    const seconds wait = next_wait(pace, {.kind = Kind::kFailed, .now = kNow}, {}, random);
    const seconds middle = std::min<seconds>(5min * (1 << i), 24h);
    EXPECT_GE(wait, std::max<seconds>(5min, middle * 3 / 4));
    EXPECT_LE(wait, std::min<seconds>(24h, middle * 14 / 10));
    last = wait;
  }
  EXPECT_GE(last, 18h);
  EXPECT_EQ(pace.failures, 12);
  EXPECT_LE(next_wait(pace, {.kind = Kind::kUnchanged, .now = kNow}, {}, random), 20min);
  EXPECT_EQ(pace.failures, 0);
}

TEST(PollPace, WaitsAsLongAsTheServerAsks) {
  PollPace pace{.change_gap = 10min, .changed_at = kNow};
  Random random(1);
  const seconds wait =
      next_wait(pace, {.kind = Kind::kUnchanged, .now = kNow, .asked = 3h}, {}, random);
  EXPECT_GE(wait, 3h);
  EXPECT_LE(wait, 3h + 18min);
  EXPECT_EQ(next_wait(pace, {.kind = Kind::kFailed, .now = kNow, .asked = 24h * 365}, {}, random),
            24h);
  EXPECT_GE(next_wait(pace, {.kind = Kind::kUnchanged, .now = kNow, .asked = 0s}, {}, random),
            5min);
}

TEST(PollPace, IsSpreadBySeedAndTheSameForTheSameSeed) {
  const auto wait = [](std::uint64_t seed) {
    PollPace pace{.change_gap = 10h, .changed_at = kNow};
    Random random(seed);
    return next_wait(pace, {.kind = Kind::kUnchanged, .now = kNow}, {}, random);
  };
  EXPECT_EQ(wait(1), wait(1));
  EXPECT_NE(wait(1), wait(2));
}

}  // namespace
}  // namespace kin::stories
