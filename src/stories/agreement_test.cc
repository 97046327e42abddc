#include "stories/agreement.h"

#include <gtest/gtest.h>

#include <array>

namespace kin::stories {
namespace {

TEST(Agreement, IsPerfectForEqualGroupings) {
  const auto figures = measure_agreement(std::array<std::uint64_t, 4>{7, 7, 8, 9},
                                         std::array<std::uint64_t, 4>{1, 1, 2, 3});
  EXPECT_DOUBLE_EQ(figures.bcubed.f1(), 1);
  EXPECT_DOUBLE_EQ(figures.pairwise.f1(), 1);
  EXPECT_EQ(figures.groups, 3u);
  EXPECT_EQ(figures.true_groups, 3u);
}

TEST(Agreement, CountsWhatWasMixedAndWhatWasTornApart) {
  // Groups {a a b} {b}; in truth {a a} {b b}.
  const auto figures = measure_agreement(std::array<std::uint64_t, 4>{1, 1, 1, 2},
                                         std::array<std::uint64_t, 4>{5, 5, 6, 6});
  EXPECT_DOUBLE_EQ(figures.bcubed.precision, (2.0 / 3 + 2.0 / 3 + 1.0 / 3 + 1) / 4);
  EXPECT_DOUBLE_EQ(figures.bcubed.recall, (1 + 1 + 0.5 + 0.5) / 4);
  EXPECT_DOUBLE_EQ(figures.pairwise.precision, 1.0 / 3);
  EXPECT_DOUBLE_EQ(figures.pairwise.recall, 1.0 / 2);
}

TEST(Agreement, IsZeroWithoutItems) {
  const auto figures = measure_agreement({}, {});
  EXPECT_EQ(figures.bcubed.f1(), 0);
  EXPECT_EQ(figures.pairwise.f1(), 0);
}

}  // namespace
}  // namespace kin::stories
