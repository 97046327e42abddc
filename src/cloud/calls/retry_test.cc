#include "cloud/calls/retry.h"

#include <gtest/gtest.h>

namespace kin::cloud {
namespace {

using namespace std::chrono_literals;

TEST(FullJitter, IsSpreadFromNothingToTheDoubledBase) {
  const RetryOptions options{.base = 100ms, .longest = 1s};
  Random random(1);
  for (const auto& [tries, most] :
       {std::pair{1, 100ms}, {2, 200ms}, {3, 400ms}, {5, 1000ms}, {60, 1000ms}}) {
    std::chrono::nanoseconds lowest = most;
    std::chrono::nanoseconds highest{0};
    for (int i = 0; i < 1000; ++i) {
      const auto wait = full_jitter(options, tries, random);
      lowest = std::min(lowest, wait);
      highest = std::max(highest, wait);
    }
    EXPECT_GE(lowest, 0ns);
    EXPECT_LT(lowest, most / 20);
    EXPECT_GT(highest, most - most / 20);
    EXPECT_LT(highest, most);
  }
}

TEST(RetryBudget, RunsOutAndIsFilledBySuccess) {
  RetryBudget budget(2);
  EXPECT_TRUE(budget.take());
  EXPECT_TRUE(budget.take());
  EXPECT_FALSE(budget.take());
  budget.give_back();
  EXPECT_TRUE(budget.take());
  for (int i = 0; i < 5; ++i) budget.give_back();
  EXPECT_TRUE(budget.take());
  EXPECT_TRUE(budget.take());
  EXPECT_FALSE(budget.take());
}

}  // namespace
}  // namespace kin::cloud
