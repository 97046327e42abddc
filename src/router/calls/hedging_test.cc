#include "router/calls/hedging.h"

#include <gtest/gtest.h>

namespace kin::router {
namespace {

using std::chrono::milliseconds;

void add(ReplyTimes& times, int calls, milliseconds took) {
  for (int i = 0; i < calls; ++i) times.add(took);
}

// Whether it is the time, or up to a fifth more.
void expect_about(std::chrono::nanoseconds found, milliseconds time) {
  EXPECT_GE(found, time);
  EXPECT_LE(5 * found, 6 * time);
}

TEST(ReplyTimes, KnowNothingAtFirst) {
  EXPECT_EQ(ReplyTimes().exceeded_by(0.05), milliseconds{0});
  EXPECT_EQ(ReplyTimes().calls(), 0);
}

TEST(ReplyTimes, TellWhatFewCallsExceed) {
  ReplyTimes times;
  add(times, 96, milliseconds{3});
  add(times, 4, milliseconds{80});
  expect_about(times.exceeded_by(0.05), milliseconds{3});
  expect_about(times.exceeded_by(0.03), milliseconds{80});
  EXPECT_EQ(times.calls(), 100);
}

TEST(ReplyTimes, HoldTheShortestAndTheLongest) {
  ReplyTimes times;
  times.add({});
  EXPECT_LE(times.exceeded_by(0), milliseconds{1});
  times.add(std::chrono::hours{1});
  EXPECT_GT(times.exceeded_by(0), milliseconds{1'000});
}

TEST(ReplyTimes, FollowAShardThatBecomesSlowWithinAFewCalls) {
  ReplyTimes times;
  add(times, 10'000, milliseconds{3});
  add(times, 40, milliseconds{80});
  expect_about(times.exceeded_by(0.05), milliseconds{80});
}

TEST(ReplyTimes, ForgetThatAShardWasSlow) {
  ReplyTimes times;
  add(times, 10'000, milliseconds{80});
  add(times, 2'000, milliseconds{3});
  expect_about(times.exceeded_by(0.05), milliseconds{3});
}

class HedgingTest : public testing::Test {
 protected:
  milliseconds delay(const std::string& shard, Hedging::Kind kind) {
    return std::chrono::duration_cast<milliseconds>(hedging_.delay(shard, kind));
  }
  void took(const std::string& shard, Hedging::Kind kind, milliseconds time, int calls = 100) {
    for (int i = 0; i < calls; ++i) hedging_.took(shard, kind, time);
  }

  const Hedging::Kind find_ = typeid(FindRequest);
  const Hedging::Kind get_ = typeid(GetRequest);
  Hedging hedging_{{}, milliseconds{500}};
};

TEST_F(HedgingTest, TheDelayIsTheLongestUntilEnoughIsKnown) {
  EXPECT_EQ(delay("a", find_), milliseconds{500});
  took("a", find_, milliseconds{40}, 49);
  EXPECT_EQ(delay("a", find_), milliseconds{500});
  took("a", find_, milliseconds{40}, 1);
  expect_about(hedging_.delay("a", find_), milliseconds{40});
}

TEST_F(HedgingTest, EachShardAndKindHasADelayOfItsOwn) {
  took("a", find_, milliseconds{40});
  took("a", get_, milliseconds{20});
  took("b", find_, milliseconds{90});
  expect_about(hedging_.delay("a", find_), milliseconds{40});
  expect_about(hedging_.delay("a", get_), milliseconds{20});
  expect_about(hedging_.delay("b", find_), milliseconds{90});
}

TEST_F(HedgingTest, TheDelayHasAFloorAndACeiling) {
  took("fast", find_, milliseconds{1});
  took("slow", find_, milliseconds{1'900});
  EXPECT_EQ(delay("fast", find_), milliseconds{10});
  EXPECT_EQ(delay("slow", find_), milliseconds{500});
}

TEST_F(HedgingTest, OneCallOfTwentyMayBeHedged) {
  EXPECT_FALSE(hedging_.spend()) << "nothing was earned";
  int sent = 0;
  for (int call = 1; call <= 2'000; ++call) {
    hedging_.earn();
    if (hedging_.spend()) ++sent;
    EXPECT_LE(sent * 20, call);
  }
  EXPECT_EQ(sent, 100);
}

TEST_F(HedgingTest, AQuietTimeSavesUpAFewHedgesOnly) {
  for (int call = 0; call < 100'000; ++call) hedging_.earn();
  int sent = 0;
  while (hedging_.spend()) ++sent;
  EXPECT_EQ(sent, 10);
}

TEST(HedgingOptions, WithoutABudgetNothingIsHedged) {
  Hedging none({.budget = 0}, milliseconds{500});
  for (int call = 0; call < 1'000; ++call) none.earn();
  EXPECT_FALSE(none.spend());
}

}  // namespace
}  // namespace kin::router
