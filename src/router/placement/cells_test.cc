#include "router/placement/cells.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace kin::router {
namespace {

// Points around 0 and around 10, in two dimensions.
std::vector<std::vector<float>> two_clumps(std::size_t each) {
  Random random(3);
  std::vector<std::vector<float>> points;
  for (std::size_t i = 0; i < 2 * each; ++i) {
    const float at = i % 2 == 0 ? 0.0F : 10.0F;
    points.push_back(
        {at + static_cast<float>(random.unit()), at + static_cast<float>(random.unit())});
  }
  return points;
}

TEST(LearnCells, ASplitFindsBothHalves) {
  const LearntCells cells =
      learn_cells(two_clumps(200), {.centres = {{5, 5}}, .added = 1, .seed = 4});
  ASSERT_EQ(cells.centres.size(), 2U);
  EXPECT_EQ(cells.sizes, (std::vector<std::uint64_t>{200, 200}));
  const bool first_is_low = cells.centres[0][0] < 5;
  EXPECT_NEAR(cells.centres[first_is_low ? 0 : 1][0], 0.5, 0.1);
  EXPECT_NEAR(cells.centres[first_is_low ? 1 : 0][1], 10.5, 0.1);
}

TEST(LearnCells, AMergedCellIsTheMean) {
  const LearntCells cells = learn_cells(two_clumps(200), {.centres = {{0, 0}}});
  ASSERT_EQ(cells.centres.size(), 1U);
  EXPECT_NEAR(cells.centres[0][0], 5.5, 0.1);
}

TEST(LearnCells, CellsWithoutVectorsStay) {
  const LearntCells cells = learn_cells(two_clumps(10), {.centres = {{5, 5}, {90, 90}}});
  ASSERT_EQ(cells.centres.size(), 2U);
  EXPECT_EQ(cells.centres[1], (std::vector<float>{90, 90}));
  EXPECT_EQ(cells.sizes[1], 0U);
}

TEST(LearnCells, EqualVectorsCannotBeDivided) {
  const std::vector<std::vector<float>> sample(5, {1, 2});
  EXPECT_EQ(learn_cells(sample, {.centres = {{1, 2}}, .added = 1}).centres.size(), 1U);
  EXPECT_EQ(learn_cells({}, {.centres = {{1, 2}}, .added = 1}).centres.size(), 1U);
  // Away from its vectors, the old one leaves room for another.
  EXPECT_EQ(learn_cells(sample, {.centres = {{0, 0}}, .added = 1}).centres.size(), 2U);
}

TEST(LearnCells, ASeedGivesTheSameCells) {
  const auto sample = two_clumps(50);
  const CellsToLearn wanted{.centres = {{3, 3}}, .added = 3, .seed = 9};
  EXPECT_EQ(learn_cells(sample, wanted).centres, learn_cells(sample, wanted).centres);
}

}  // namespace
}  // namespace kin::router
