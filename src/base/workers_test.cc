#include "base/workers.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace kin {
namespace {

TEST(ParallelFor, VisitsEveryItemOnce) {
  std::vector<std::atomic<int>> visits(1000);
  ASSERT_TRUE(parallel_for(4, visits.size(), [&](std::size_t i) -> Status {
                ++visits[i];
                return Done{};
              }).ok());
  for (const auto& count : visits) EXPECT_EQ(count, 1);
}

TEST(ParallelFor, ReportsAFailureAndStops) {
  std::atomic<int> visited{0};
  std::atomic<bool> fails{false};
  const Status status = parallel_for(2, 1'000'000, [&](std::size_t i) -> Status {
    ++visited;
    if (i == 10) {
      fails = true;
      return Error{Code::kUnavailable, "ten"};
    }
    // The other worker waits from the tenth item on, so that it cannot finish before it is told to
    // stop, whichever of the two runs first.
    while (i > 10 && !fails) std::this_thread::yield();
    if (i > 10) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return Done{};
  });
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message, "ten");
  EXPECT_LT(visited, 1'000'000);
}

TEST(RunWorkers, RunsEachNumberOnce) {
  std::atomic<int> sum{0};
  ASSERT_TRUE(run_workers(3, [&](int worker) -> Status {
                sum += 1 << worker;
                return Done{};
              }).ok());
  EXPECT_EQ(sum, 7);
}

}  // namespace
}  // namespace kin
