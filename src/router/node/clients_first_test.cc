#include "router/node/clients_first.h"

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

TEST_F(ClientsFirstTest, PiecesOfOneTimeRestOneAfterTheOther) {
  serve_client();
  const SteadyTime now = clock_.steady_now();
  EXPECT_EQ(pace_.next_after(milliseconds{10}), now + milliseconds{30});
  EXPECT_EQ(pace_.next_after(milliseconds{20}), now + milliseconds{90});
  clock_.advance(milliseconds{200});
  EXPECT_EQ(pace_.next_after(milliseconds{1}), now + milliseconds{203});
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
