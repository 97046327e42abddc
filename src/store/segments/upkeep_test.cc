#include "store/segments/upkeep.h"

#include <gtest/gtest.h>

namespace kin::store {
namespace {

// Segments of these sizes, oldest first, named by their index.
std::vector<SegmentInfo> segments(const std::vector<std::uint64_t>& sizes) {
  std::vector<SegmentInfo> made;
  for (const std::uint64_t size : sizes)
    made.push_back({.name = std::to_string(made.size()), .bytes = size});
  return made;
}

TEST(MergeRange, EightOfASizeAreMergedByTheOneWhoWroteTheLast) {
  const auto eight =
      segments({100'000, 9'000, 1'000, 1'000, 1'000, 1'000, 1'000, 1'000, 1'000, 900});
  EXPECT_EQ(merge_range(eight, "9"), (MergeRange{2, 10}));
  EXPECT_EQ(merge_range(eight, "1"), std::nullopt);
  EXPECT_EQ(merge_range(eight, "somebody else's"), std::nullopt);
  EXPECT_EQ(merge_range(segments({1'000, 1'000, 1'000}), "2"), std::nullopt);
  EXPECT_EQ(merge_range({}, ""), std::nullopt);
}

TEST(MergeRange, NewerSmallerSegmentsAreMergedWithTheLargerOnes) {
  const auto some = segments({9'000, 9'000, 9'000, 9'000, 9'000, 9'000, 9'000, 9'000, 10});
  EXPECT_EQ(merge_range(some, "7"), (MergeRange{0, 9}));
}

TEST(MergeRange, WhatADeadWorkerShouldHaveMergedIsMergedByAnybody) {
  EXPECT_EQ(merge_range(segments(std::vector<std::uint64_t>(15, 1'000)), "x"), std::nullopt);
  EXPECT_EQ(merge_range(segments(std::vector<std::uint64_t>(16, 1'000)), "x"), (MergeRange{0, 16}));
}

}  // namespace
}  // namespace kin::store
