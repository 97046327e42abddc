#include "app/progress_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/columns.h"
#include "base/testing/manual_clock.h"

namespace kin::app {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;
using testing::Not;

class StageMeterTest : public testing::Test {
 protected:
  // Does `units` of work each second for so many seconds.
  StageView work(int for_seconds, std::uint64_t units) {
    StageView view;
    for (int i = 0; i < for_seconds; ++i) {
      progress_.work.add(units);
      clock_.advance(seconds(1));
      view = meter_.look();
    }
    return view;
  }
  void enter(const char* stage, std::uint64_t total) {
    progress_.work.begin();
    progress_.stage = stage;
    progress_.work.phase(total);
    meter_.look();
  }

  dedup::Progress progress_;
  ManualClock clock_;
  StageMeter meter_{progress_, clock_};
};

TEST_F(StageMeterTest, SaysNothingOfWorkThatIsNotKnown) {
  const StageView view = meter_.look();
  EXPECT_EQ(view.stage, "starting");
  EXPECT_FALSE(view.share);
  EXPECT_FALSE(view.seconds_left);
}

TEST_F(StageMeterTest, TellsNoTimeFromTheFirstMoments) {
  enter("scan", 1'000);
  progress_.work.add(1);
  clock_.advance(milliseconds(1));
  EXPECT_FALSE(meter_.look().seconds_left);
  progress_.work.add(400);
  clock_.advance(milliseconds(1'500));
  const StageView view = meter_.look();
  EXPECT_DOUBLE_EQ(*view.share, 0.401);
  EXPECT_FALSE(view.seconds_left);
}

TEST_F(StageMeterTest, TellsTheTimeLeftByTheSpeedOfTheStage) {
  enter("scan", 1'000);
  EXPECT_NEAR(*work(10, 10).seconds_left, 90, 0.1);
}

TEST_F(StageMeterTest, AVerySlowStageIsTimedToo) {
  enter("scan", 1'000'000);
  EXPECT_FALSE(work(14, 10).seconds_left);
  EXPECT_NEAR(*work(6, 10).seconds_left, 99'980, 1);
}

TEST_F(StageMeterTest, ForgetsTheSpeedOfLongAgo) {
  enter("scan", 100'000);
  work(60, 1'000);
  EXPECT_NEAR(*work(60, 10).seconds_left, 3'940, 60);
}

TEST_F(StageMeterTest, ASlowerStageDoesNotInheritTheSpeed) {
  enter("scan", 100);
  work(50, 2);
  enter("verify", 1'000);
  EXPECT_FALSE(meter_.look().seconds_left);
  EXPECT_NEAR(*work(20, 1).seconds_left, 980, 1);
}

TEST_F(StageMeterTest, WorkOfAnEarlierRunDoesNotCountAsSpeed) {
  progress_.work.begin();
  progress_.stage = "scan";
  progress_.work.phase(1'000);
  progress_.work.add(900);
  meter_.look();
  EXPECT_NEAR(*work(10, 2).seconds_left, 40, 0.1);
}

TEST_F(StageMeterTest, AStageThatStandsStillHasNoTimeLeft) {
  enter("write", 1'000);
  work(10, 10);
  EXPECT_FALSE(work(40, 0).seconds_left);
}

TEST_F(StageMeterTest, TheShareNeverGoesBackWithinAStage) {
  progress_.work.begin();
  progress_.stage = "candidates";
  progress_.work.plan({3, 1});
  progress_.work.phase(10);
  double before = 0;
  for (int i = 0; i < 30; ++i) {
    if (i == 15) progress_.work.phase(10);
    progress_.work.add(1);
    clock_.advance(seconds(1));
    const double share = *meter_.look().share;
    EXPECT_GE(share, before);
    before = share;
  }
  EXPECT_DOUBLE_EQ(before, 1.0);
}

TEST_F(StageMeterTest, RecordsOfTheStageMakeTheRate) {
  progress_.records = 1'000'000;
  enter("texts", 10);
  EXPECT_FALSE(work(5, 1).records_second);
  enter("scan", 10);
  progress_.records = 1'000'500;
  EXPECT_DOUBLE_EQ(*work(5, 1).records_second, 100);
}

const StageView kView{.stage = "candidates",
                      .share = 0.4249,
                      .seconds_left = 74.2,
                      .records_second = 123'456,
                      .records = 5'000'000,
                      .duplicates = 12'345};

TEST(ProgressWords, FitEveryTerminal) {
  for (std::size_t columns = 1; columns < 200; ++columns)
    EXPECT_LE(display_columns(format_progress(kView, 1 << 30, columns)), columns);
}

TEST(ProgressWords, LeaveOutWhatMattersLeast) {
  EXPECT_EQ(format_progress(kView, 1 << 30, 120),
            "candidates  [==========              ]  42 %  1:15 left  123 k records/s  12.3 k "
            "duplicates  1.00 GiB");
  EXPECT_EQ(format_progress(kView, 1 << 30, 60),
            "candidates 42 % 1:15 left 123 k records/s 12.3 k duplicates");
  EXPECT_EQ(format_progress(kView, 1 << 30, 30), "candidates  42 %  1:15 left");
  EXPECT_EQ(format_progress(kView, 1 << 30, 19), "candidates  42 %");
  EXPECT_EQ(format_progress(kView, 1 << 30, 5), "cand…");
}

TEST(ProgressWords, HaveNoNonsense) {
  StageView view = kView;
  view.seconds_left = 0.01;
  view.share = 0.99999;
  const std::string line = format_progress(view, 0, 200);
  EXPECT_THAT(line, HasSubstr("99 %  1 s left"));
  view.seconds_left = 86'400 * 11.5;
  EXPECT_THAT(format_progress(view, 0, 200), HasSubstr("12 days left"));
  EXPECT_EQ(
      format_progress({.stage = "starting", .share = {}, .seconds_left = {}, .records_second = {}},
                      0, 80),
      "starting");
}

TEST(ProgressWords, OfAnInputHaveNoTimeAtTheBeginning) {
  EXPECT_EQ(format_share(0, 100, 10), "");
  EXPECT_EQ(format_share(1, 100, 0.01), "  1 %");
  EXPECT_EQ(format_share(40, 100, 50), "  40 %  1:15 left");
  EXPECT_EQ(format_share(100, 100, 50), "");
}

ProgressPrinter::Line fixed_line(std::string text) {
  return [text](std::optional<std::size_t>) { return text; };
}

TEST(ProgressPrinter, ReplacesTheLineOfATerminal) {
  ManualClock clock;
  ProgressPrinter printer(fixed_line("half of it"), clock);
  EXPECT_EQ(printer.next({.terminal = true, .columns = 80}), "\r\033[Khalf of it");
  EXPECT_EQ(printer.end(), "\r\033[K");
}

TEST(ProgressPrinter, FitsATerminalThatShrinks) {
  ManualClock clock;
  ProgressPrinter printer(fixed_line("新闻.jsonl is read"), clock);
  EXPECT_EQ(printer.next({.terminal = true, .columns = 80}), "\r\033[K新闻.jsonl is read");
  EXPECT_EQ(printer.next({.terminal = true, .columns = 8}), "\r\033[K新闻.j…");
  EXPECT_EQ(printer.next({.terminal = true, .columns = 1}), "\r\033[K…");
}

TEST(ProgressPrinter, IsCalmWhereThereIsNoTerminal) {
  ManualClock clock;
  ProgressPrinter printer(fixed_line("kindred: scan, 4 %"), clock);
  const ProgressOutput log{.terminal = false, .plain_seconds = 30};
  int lines = 0;
  for (int i = 0; i < 5 * 120; ++i) {  // two minutes
    clock.advance(milliseconds(200));
    const std::string text = printer.next(log);
    if (text.empty()) continue;
    EXPECT_EQ(text, "kindred: scan, 4 %\n");
    ++lines;
  }
  EXPECT_EQ(lines, 4);
  EXPECT_EQ(printer.end(), "");
}

TEST(ProgressPrinter, PrintsNothingWhereLinesAreTurnedOff) {
  ManualClock clock;
  ProgressPrinter printer(fixed_line("text"), clock);
  clock.advance(seconds(1'000));
  EXPECT_EQ(printer.next({.terminal = false, .plain_seconds = 0}), "");
}

TEST(ProgressWords, OfALogHaveNoBar) {
  EXPECT_EQ(format_progress_plainly(kView, 1 << 30),
            "kindred: candidates, 42 %, 1:15 left, 123 k records/s, 12.3 k duplicates, 1.00 GiB");
}

}  // namespace
}  // namespace kin::app
