#include "base/random.h"

#include <gtest/gtest.h>

#include <array>

namespace kin {
namespace {

TEST(Random, GivesTheSameNumbersForEver) {
  Random random(1);
  EXPECT_EQ(random.next(), 0x910A2DEC89025CC1ULL);
  EXPECT_EQ(random.next(), 0xBEEB8DA1658EEC67ULL);
}

TEST(Random, StaysBelowTheBoundAndReachesEveryValue) {
  Random random(7);
  std::array<int, 5> seen{};
  for (int i = 0; i < 5'000; ++i) ++seen.at(random.below(5));
  for (const int count : seen) EXPECT_NEAR(count, 1'000, 200);
}

TEST(Random, FillsTheUnitInterval) {
  Random random(7);
  double sum = 0;
  for (int i = 0; i < 10'000; ++i) {
    const double value = random.unit();
    ASSERT_GE(value, 0.0);
    ASSERT_LT(value, 1.0);
    sum += value;
  }
  EXPECT_NEAR(sum / 10'000, 0.5, 0.02);
}

}  // namespace
}  // namespace kin
