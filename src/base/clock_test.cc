#include "base/clock.h"

#include <gtest/gtest.h>

#include "base/step.h"
#include "base/testing/manual_clock.h"

namespace kin {
namespace {

using namespace std::chrono_literals;

TEST(SystemClock, GoesOn) {
  const SteadyTime before = system_clock().steady_now();
  system_clock().sleep_for(1ms);
  EXPECT_GE(system_clock().steady_now() - before, 1ms);
}

TEST(ManualClock, MovesOnlyWhenTold) {
  ManualClock clock;
  const WallTime wall = clock.now();
  const SteadyTime steady = clock.steady_now();
  EXPECT_EQ(clock.now(), wall);
  clock.advance(90s);
  clock.sleep_for(500us);
  clock.sleep_for(500us);
  EXPECT_EQ(clock.now() - wall, 90s + 1ms);
  EXPECT_EQ(clock.steady_now() - steady, 90s + 1ms);
}

TEST(StepOutcome, OfTwoStepsIsTheEarlierOne) {
  const ManualClock clock;
  const SteadyTime now = clock.steady_now();
  EXPECT_EQ(StepOutcome::worked().next(now), now);
  EXPECT_EQ(StepOutcome::idle().next(now), std::nullopt);
  const auto soon = StepOutcome::not_before(now + 1s);
  const auto later = StepOutcome::not_before(now + 2s);
  EXPECT_EQ(combine(later, soon).next(now), now + 1s);
  EXPECT_EQ(combine(StepOutcome::idle(), later).next(now), now + 2s);
  EXPECT_EQ(combine(soon, StepOutcome::idle()).next(now), now + 1s);
  EXPECT_TRUE(combine(soon, StepOutcome::worked()).did_work());
}

}  // namespace
}  // namespace kin
