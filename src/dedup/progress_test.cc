#include "dedup/progress.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <mutex>

#include "base/file.h"
#include "base/testing/manual_clock.h"
#include "dedup/run.h"

namespace kin::dedup {
namespace {

TEST(StageWork, IsUnknownUntilAPhaseBegins) {
  StageWork work;
  EXPECT_FALSE(work.share());
  work.phase(10);
  EXPECT_DOUBLE_EQ(*work.share(), 0);
  work.add(5);
  EXPECT_DOUBLE_EQ(*work.share(), 0.5);
  work.begin();
  EXPECT_FALSE(work.share());
}

TEST(StageWork, SharesTheStageOutToItsPhases) {
  StageWork work;
  work.plan({3, 1});
  work.phase(10);
  work.add(10);
  EXPECT_DOUBLE_EQ(*work.share(), 0.75);
  work.phase(4);
  EXPECT_DOUBLE_EQ(*work.share(), 0.75);
  work.add(2);
  EXPECT_DOUBLE_EQ(*work.share(), 0.875);
  work.add(100);  // more than expected
  EXPECT_DOUBLE_EQ(*work.share(), 1);
}

TEST(StageWork, APhaseWithoutWorkIsDone) {
  StageWork work;
  work.phase(0);
  EXPECT_DOUBLE_EQ(*work.share(), 1);
}

TEST(SpreadWork, CountsAllUnitsWhateverTheItems) {
  for (const std::uint64_t items : {0, 1, 3, 7, 1'000}) {
    StageWork work;
    work.phase(100);
    SpreadWork spread(&work, 100, items);
    for (std::uint64_t i = 0; i < items; ++i) spread.finished_one();
    EXPECT_DOUBLE_EQ(*work.share(), 1) << items;
  }
}

// A run reads the clock when a stage ends: this clock records the counts at that time.
class WatchingClock final : public Clock {
 public:
  explicit WatchingClock(const Progress& progress) : progress_(progress) {}
  WallTime now() const override { return clock_.now(); }
  SteadyTime steady_now() const override {
    const std::scoped_lock lock(mutex_);
    last_[progress_.stage.load()] = progress_.work.share();
    return clock_.steady_now();
  }
  void sleep_for(std::chrono::nanoseconds duration) override { clock_.sleep_for(duration); }
  std::map<std::string, std::optional<double>> last() const { return last_; }

 private:
  const Progress& progress_;
  ManualClock clock_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, std::optional<double>> last_;
};

class StagesTest : public testing::Test {
 protected:
  StagesTest() {
    std::string lines;
    for (int i = 0; i < 400; ++i) {
      std::string text;
      for (int word = 0; word < 40; ++word) text += fmt::format("w{} ", (i / 2 * 37 + word) % 997);
      if (i % 2 == 1) text += "and one more";
      lines += fmt::format(R"({{"id": {}, "text": "the same first line\n{}"}})", i, text) + "\n";
    }
    EXPECT_TRUE(write_file_atomically(folder_.path() / "in.jsonl", lines).ok());
    const std::size_t end = lines.find('\n', 3'000);
    EXPECT_TRUE(write_file_atomically(folder_.path() / "old.jsonl", lines.substr(0, end + 1)).ok());
  }

  // Every stage of the run knows its share, and has done all of its work at its end.
  void expect_shares(DedupOptions options, const std::string& output = "out.jsonl") {
    DedupJob job;
    job.inputs = {(folder_.path() / "in.jsonl").string()};
    job.output = folder_.path() / output;
    job.options = std::move(options);
    job.options.threads = 2;
    Progress progress;
    WatchingClock clock(progress);
    const auto report = run_dedup(job, progress, clock);
    ASSERT_TRUE(report.ok()) << report.error().message;
    ASSERT_FALSE(report->stage_seconds.empty());
    for (const auto& [stage, seconds] : report->stage_seconds) {
      const auto share = clock.last()[stage];
      ASSERT_TRUE(share) << stage << " of --by " << by_of(report->options);
      EXPECT_GT(*share, 0.98) << stage << " of --by " << by_of(report->options);
    }
  }

  TemporaryFolder folder_ = *TemporaryFolder::create();
};

TEST_F(StagesTest, OfEveryDetectorHaveAShare) {
  for (const char* by : {"exact,minhash", "simhash", "chunk", "exact,minhash,simhash,chunk",
                         "lines", "paragraphs", "substring:10", "exact,substring:60b"}) {
    DedupOptions options;
    ASSERT_TRUE(parse_by(by, options).ok());
    expect_shares(options);
  }
}

TEST_F(StagesTest, OfReferencesHaveAShare) {
  DedupOptions options;
  options.against = {(folder_.path() / "old.jsonl").string()};
  expect_shares(options);
  options.contains = 0.8;
  expect_shares(options);
}

TEST_F(StagesTest, OfRunsThatFollowOneAnotherHaveAShare) {
  DedupOptions options;
  options.signature_store = folder_.path() / "store";
  options.append = true;
  expect_shares(options);
  expect_shares(options);
}

TEST_F(StagesTest, OfASeenSetHaveAShare) {
  DedupOptions options;
  options.id_column = "id";
  options.skip_seen = folder_.path() / "ids.seen";
  expect_shares(options);
}

TEST_F(StagesTest, OfOutputsInOtherFormatsHaveAShare) {
  for (const char* output : {"out.parquet", "out.csv", "out.jsonl.zst", "folder/"})
    expect_shares({}, output);
}

}  // namespace
}  // namespace kin::dedup
