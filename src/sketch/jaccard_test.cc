#include "sketch/jaccard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

namespace kin::sketch {
namespace {

using ::testing::ElementsAreArray;
using Set = std::vector<std::uint64_t>;

TEST(SortUnique, AgreesWithASetOnEveryShapeOfList) {
  std::mt19937_64 random(1);
  for (const std::size_t size : {0U, 1U, 2U, 50U, 1'000U, 20'000U}) {
    for (const std::uint64_t divisor :
         {std::uint64_t{1}, std::uint64_t{1} << 40, std::uint64_t{1} << 60}) {
      Set list(size);
      for (auto& value : list) value = random() / divisor;
      const std::set<std::uint64_t> expected(list.begin(), list.end());
      sort_unique(list);
      EXPECT_THAT(list, ElementsAreArray(expected));
    }
  }
}

TEST(ExactJaccard, CountsWhatIsShared) {
  EXPECT_DOUBLE_EQ(exact_jaccard(Set{1, 2, 3}, Set{2, 3, 4}), 0.5);
  EXPECT_DOUBLE_EQ(exact_jaccard(Set{1, 2, 3}, Set{1, 2, 3}), 1);
  EXPECT_DOUBLE_EQ(exact_jaccard(Set{1, 2}, Set{3, 4}), 0);
  EXPECT_DOUBLE_EQ(exact_jaccard(Set{7}, Set{1, 2, 3, 7}), 0.25);
}

TEST(ExactJaccard, IsZeroForEmptySets) {
  EXPECT_EQ(exact_jaccard({}, {}), 0);
  EXPECT_EQ(exact_jaccard({}, Set{1}), 0);
}

}  // namespace
}  // namespace kin::sketch
