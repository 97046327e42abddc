#include "search/serving/caretaker.h"

#include <gtest/gtest.h>

#include <atomic>

namespace kin::search {
namespace {

TEST(Caretaker, IsNotIdleWhileWorkIsDueLater) {
  std::atomic<int> calls = 0;
  const Clock& clock = system_clock();
  Caretaker caretaker(
      clock,
      [&]() -> Result<StepOutcome> {
        switch (++calls) {
          case 1:
            return StepOutcome::not_before(clock.steady_now() + std::chrono::milliseconds(20));
          case 2: return StepOutcome::worked();
          default: return StepOutcome::idle();
        }
      },
      {});
  ASSERT_TRUE(caretaker.wait_until_idle({}).ok());
  EXPECT_GE(calls, 3);
}

TEST(Caretaker, TellsWhoWaitsWhatFailed) {
  std::atomic<int> problems = 0;
  Caretaker caretaker(
      system_clock(),
      []() -> Result<StepOutcome> { return Error{Code::kUnavailable, "the disk is gone"}; },
      [&](const Error&) { ++problems; });
  EXPECT_EQ(caretaker.wait_until_idle({}).error().code, Code::kUnavailable);
  EXPECT_GE(problems, 1);
}

}  // namespace
}  // namespace kin::search
