#include "router/clients_first.h"

#include <gtest/gtest.h>

#include <optional>

#include "base/testing/manual_clock.h"

namespace kin::router {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr ClientsFirstOptions kOptions{
    .lately = seconds{2}, .rests = 3, .longest = milliseconds{500}};

class ClientsFirstTest : public testing::Test {
 protected:
  void serve_client() { const ClientsFirst::Serving serving(pace_); }
  nanoseconds rest(nanoseconds took) {
    const SteadyTime begun = clock_.steady_now();
    EXPECT_TRUE(pace_.rest(took).ok());
    return clock_.steady_now() - begun;
  }

  ManualClock clock_;
  ClientsFirst pace_{clock_, kOptions};
};

TEST_F(ClientsFirstTest, WithoutClientsNothingRests) {
  EXPECT_FALSE(pace_.has_clients());
  EXPECT_EQ(rest(seconds{1}), nanoseconds{0});
}

TEST_F(ClientsFirstTest, WorkRestsSomeTimesAsLongAsItTookWhileAClientIsServed) {
  const ClientsFirst::Serving serving(pace_);
  EXPECT_TRUE(pace_.has_clients());
  EXPECT_EQ(rest(milliseconds{4}), milliseconds{12});
  clock_.advance(seconds{9});
  EXPECT_TRUE(pace_.has_clients());
}

TEST_F(ClientsFirstTest, AClientCountsForAWhileAfterItsRequest) {
  serve_client();
  clock_.advance(milliseconds{1'999});
  EXPECT_TRUE(pace_.has_clients());
  EXPECT_EQ(rest(milliseconds{10}), milliseconds{30});
  EXPECT_FALSE(pace_.has_clients());
  EXPECT_EQ(rest(milliseconds{10}), nanoseconds{0});
}

// As if another thread had done a piece at the same time.
TEST_F(ClientsFirstTest, PiecesOfOneTimeRestOneAfterTheOther) {
  class Stopped final : public Clock {
   public:
    WallTime now() const override { return {}; }
    SteadyTime steady_now() const override { return SteadyTime{std::chrono::hours{1}}; }
    void sleep_for(nanoseconds duration) override { slept = duration; }
    nanoseconds slept{0};
  };
  Stopped clock;
  ClientsFirst pace(clock, kOptions);
  const ClientsFirst::Serving serving(pace);
  EXPECT_TRUE(pace.rest(milliseconds{10}).ok());
  EXPECT_EQ(clock.slept, milliseconds{30});
  EXPECT_TRUE(pace.rest(milliseconds{20}).ok());
  EXPECT_EQ(clock.slept, milliseconds{90});
}

TEST_F(ClientsFirstTest, AThreadRestsWhenItsTurnIsOver) {
  const ClientsFirst::Serving serving(pace_);
  ClientsFirst::Turns turns(pace_);
  const SteadyTime begun = clock_.steady_now();
  clock_.advance(std::chrono::microseconds{499});
  turns.go_on();
  EXPECT_EQ(clock_.steady_now() - begun, std::chrono::microseconds{499});
  clock_.advance(std::chrono::microseconds{501});
  turns.go_on();
  EXPECT_EQ(clock_.steady_now() - begun, milliseconds{4});
  turns.go_on();
  EXPECT_EQ(clock_.steady_now() - begun, milliseconds{4});
}

TEST_F(ClientsFirstTest, ARestHasALimit) {
  serve_client();
  EXPECT_EQ(rest(seconds{30}), milliseconds{500});
}

TEST(IsOfClient, SearchesAndWritesAreCopiesAndCareAreNot) {
  EXPECT_TRUE(is_of_client(FindRequest{}));
  EXPECT_TRUE(is_of_client(WriteRequest{}));
  EXPECT_TRUE(is_of_client(GetRequest{}));
  EXPECT_FALSE(is_of_client(CopyRequest{}));
  EXPECT_FALSE(is_of_client(PullRequest{}));
  EXPECT_FALSE(is_of_client(EndMoveRequest{}));
  EXPECT_FALSE(is_of_client(DigestRequest{}));
  EXPECT_FALSE(is_of_client(StatsRequest{}));
  EXPECT_FALSE(is_of_client(HealthRequest{}));
}

}  // namespace
}  // namespace kin::router
