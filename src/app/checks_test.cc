#include "app/checks.h"

#include <gtest/gtest.h>

namespace kin::app {
namespace {

TEST(Checks, AWholeNumberIsNeitherNegativeNorAFractionNorAWord) {
  const Check check = whole_number(1, 1000);
  EXPECT_EQ(check("1"), "");
  EXPECT_EQ(check("1000"), "");
  for (const char* wrong : {"0", "1001", "-1", "-18446744073709551615", "1.5", "x", "1x", " 1", ""})
    EXPECT_EQ(check(wrong), "\"" + std::string(wrong) + "\" is not a whole number from 1 to 1000");
}

TEST(Checks, AWholeNumberMayHaveNoLimit) {
  const Check check = whole_number(0);
  EXPECT_EQ(check("18446744073709551615"), "");
  EXPECT_EQ(check("18446744073709551616"),
            "\"18446744073709551616\" is not a whole number from 0 on");
}

TEST(Checks, ANumberIsFiniteAndWithinItsLimits) {
  const Check check = number(0, 1);
  EXPECT_EQ(check("0"), "");
  EXPECT_EQ(check("0.5"), "");
  for (const char* wrong : {"-0.1", "1.1", "nan", "inf", "half", ""})
    EXPECT_EQ(check(wrong), "\"" + std::string(wrong) + "\" is not a number from 0 to 1");
}

TEST(Checks, AWordIsOneOfThoseThereAre) {
  const Check check = one_of({"fail", "skip"});
  EXPECT_EQ(check("skip"), "");
  EXPECT_EQ(check("maybe"), "\"maybe\" is not one of fail, skip");
}

}  // namespace
}  // namespace kin::app
