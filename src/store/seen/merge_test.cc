#include "store/seen/merge.h"

#include <gtest/gtest.h>

namespace kin::store {
namespace {

// Adds `flushes` runs of one id each, merging by the rule; returns the ids written and the greatest
// number of runs.
std::pair<std::uint64_t, std::size_t> grow(std::uint64_t flushes) {
  std::vector<std::uint64_t> runs;
  std::uint64_t written = 0;
  std::size_t most = 0;
  for (std::uint64_t i = 0; i < flushes; ++i) {
    runs.push_back(1);
    ++written;
    if (const auto due = runs_to_merge(runs); !due.empty()) {
      std::uint64_t together = 0;
      for (const std::size_t at : due) together += std::exchange(runs[at], 0);
      std::erase(runs, 0);
      runs.push_back(together);
      written += together;
    }
    most = std::max(most, runs.size());
  }
  return {written, most};
}

TEST(RunsToMerge, KeepsRunsFewAndWritesEachIdAFewTimes) {
  const auto [written_small, most_small] = grow(143);  // a hundred million ids
  EXPECT_LE(most_small, 4U);
  EXPECT_LE(written_small, 8U * 143);
  const auto [written_large, most_large] = grow(1430);  // a billion
  EXPECT_LE(most_large, 6U);
  EXPECT_LE(written_large, 10U * 1430);
}

TEST(RunsToMerge, LeavesRunsAloneThatAreFarApart) {
  EXPECT_TRUE(runs_to_merge(std::vector<std::uint64_t>{}).empty());
  EXPECT_TRUE(runs_to_merge(std::vector<std::uint64_t>{5}).empty());
  EXPECT_TRUE(runs_to_merge(std::vector<std::uint64_t>{1000, 100, 10, 1}).empty());
}

TEST(RunsToMerge, TakesAllThatAreSmallerWithTheLargestThatIsDue) {
  EXPECT_EQ(runs_to_merge(std::vector<std::uint64_t>{1000, 1, 90, 50}).size(), 3U);
  EXPECT_EQ(runs_to_merge(std::vector<std::uint64_t>{100, 1, 90, 50}).size(), 4U);
}

TEST(RunsToTidy, TakesThoseOfFewestIdsUntilAsManyAreLeftAsAskedFor) {
  EXPECT_TRUE(runs_to_tidy(std::vector<std::uint64_t>{}, 1).empty());
  EXPECT_TRUE(runs_to_tidy(std::vector<std::uint64_t>{1000, 1}, 2).empty());
  EXPECT_EQ(runs_to_tidy(std::vector<std::uint64_t>{10, 1000, 100}, 2),
            (std::vector<std::size_t>{0, 2}));
  EXPECT_EQ(runs_to_tidy(std::vector<std::uint64_t>{10, 1000, 100}, 1),
            (std::vector<std::size_t>{0, 2, 1}));
}

}  // namespace
}  // namespace kin::store
