#include "base/spare_time.h"

#include <gtest/gtest.h>

#include <thread>

namespace kin {
namespace {

using std::chrono::milliseconds;

TEST(SpareTime, RunsWorkOnAThreadOfItsOwnUntilItHasEnded) {
  SpareTime spare;
  std::thread::id by;
  for (int i = 0; i < 3; ++i) spare.run([&] { by = std::this_thread::get_id(); });
  EXPECT_NE(by, std::thread::id());
  EXPECT_NE(by, std::this_thread::get_id());
}

TEST(SpareTime, WorkIsStarvedIfItWaitsMuchLongerThanItRuns) {
  EXPECT_FALSE(is_starved({.ran = milliseconds{5}, .waited = milliseconds{0}}, true));
  EXPECT_FALSE(is_starved({.ran = milliseconds{10}, .waited = milliseconds{39}}, true));
  EXPECT_FALSE(is_starved({.ran = milliseconds{1}, .waited = milliseconds{19}}, true));  // too short
  EXPECT_TRUE(is_starved({.ran = milliseconds{10}, .waited = milliseconds{41}}, true));
}

TEST(SpareTime, ThereIsTimeToSpareAgainWhereAShareDoesNotWait) {
  EXPECT_TRUE(is_starved({.ran = milliseconds{10}, .waited = milliseconds{11}}, false));
  EXPECT_FALSE(is_starved({.ran = milliseconds{10}, .waited = milliseconds{9}}, false));
}

}  // namespace
}  // namespace kin
