#include "dedup/output/stage_times.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/manual_clock.h"

namespace kin::dedup {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::Pair;

TEST(StageTimes, GivesEachStageItsOwnTime) {
  Progress progress;
  ManualClock clock;
  StageTimes times(progress, clock);
  clock.advance(seconds(1));
  ASSERT_TRUE(times.enter("scan").ok());
  EXPECT_STREQ(progress.stage.load(), "scan");
  clock.advance(seconds(2));
  ASSERT_TRUE(times.enter("write").ok());
  clock.advance(seconds(4));
  EXPECT_THAT(times.finish(), ElementsAre(Pair("scan", 2.0), Pair("write", 4.0)));
  EXPECT_DOUBLE_EQ(times.seconds(), 7.0);
}

TEST(StageTimes, NoStageBeginsOnceTheRunIsToStop) {
  Progress progress;
  ManualClock clock;
  StageTimes times(progress, clock);
  progress.stop = true;
  EXPECT_EQ(times.enter("scan").error().code, Code::kCancelled);
  EXPECT_TRUE(times.finish().empty());
}

}  // namespace
}  // namespace kin::dedup
