#include "app/stop_signals.h"

#include <gtest/gtest.h>

#include <csignal>

namespace kin::app {
namespace {

TEST(StopSignals, TheFirstOneSetsTheFlag) {
  std::atomic<bool> stop = false;
  const StopSignals signals(stop);
  EXPECT_EQ(signals.exit_code(), std::nullopt);
  std::raise(SIGTERM);
  EXPECT_TRUE(stop);
  EXPECT_EQ(signals.exit_code(), 128 + SIGTERM);
}

TEST(StopSignals, OneThatWasIgnoredStaysIgnored) {
  std::signal(SIGHUP, SIG_IGN);
  std::atomic<bool> stop = false;
  {
    const StopSignals signals(stop);
    std::raise(SIGHUP);
  }
  std::raise(SIGHUP);
  EXPECT_FALSE(stop);
  std::signal(SIGHUP, SIG_DFL);
}

TEST(StopSignalsDeathTest, TheSecondOneEndsTheProcess) {
  EXPECT_EXIT(
      {
        std::atomic<bool> stop = false;
        const StopSignals signals(stop);
        std::raise(SIGINT);
        std::raise(SIGINT);
      },
      ::testing::KilledBySignal(SIGINT), "");
}

TEST(StopSignalsDeathTest, AfterwardsSignalsEndTheProcessAgain) {
  EXPECT_EXIT(
      {
        std::atomic<bool> stop = false;
        {
          const StopSignals signals(stop);
        }
        std::raise(SIGTERM);
      },
      ::testing::KilledBySignal(SIGTERM), "");
}

}  // namespace
}  // namespace kin::app
