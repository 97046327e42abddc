#include "server/service/step_thread.h"

#include <gtest/gtest.h>

#include <atomic>

#include "server/testing/test_client.h"

namespace kin::server {
namespace {

TEST(StepThread, StepsOnWhileThereIsWork) {
  std::atomic<int> steps = 0;
  StepThread thread(system_clock(),
                    [&] { return ++steps < 5 ? StepOutcome::worked() : StepOutcome::idle(); });
  EXPECT_TRUE(eventually([&] { return steps == 5; }));
  thread.stop();
  EXPECT_EQ(steps, 5);
}

TEST(StepThread, StepsAgainWhenItIsTime) {
  std::atomic<int> steps = 0;
  const StepThread thread(system_clock(), [&] {
    ++steps;
    return StepOutcome::not_before(system_clock().steady_now() + std::chrono::milliseconds(1));
  });
  EXPECT_TRUE(eventually([&] { return steps >= 3; }));
}

TEST(StepThread, StepsWhenItIsWoken) {
  std::atomic<int> steps = 0;
  StepThread thread(system_clock(), [&] {
    ++steps;
    return StepOutcome::idle();
  });
  ASSERT_TRUE(eventually([&] { return steps == 1; }));
  thread.wake();
  EXPECT_TRUE(eventually([&] { return steps == 2; }));
}

TEST(StepThread, StopsWhileItWaits) {
  std::atomic<int> steps = 0;
  StepThread thread(system_clock(), [&] {
    ++steps;
    return StepOutcome::not_before(system_clock().steady_now() + std::chrono::hours(1));
  });
  ASSERT_TRUE(eventually([&] { return steps == 1; }));
  expect_to_return([&] { thread.stop(); });
}

}  // namespace
}  // namespace kin::server
