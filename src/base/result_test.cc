#include "base/result.h"

#include <gtest/gtest.h>

namespace kin {
namespace {

Result<int> half(int number) {
  if (number % 2 != 0) return Error{Code::kInvalidArgument, "odd"};
  return number / 2;
}

Result<int> quarter(int number) {
  KIN_TRY(const int once, half(number));
  KIN_TRY(const int twice, half(once));
  return twice;
}

TEST(Result, CarriesAValueThroughTry) {
  EXPECT_EQ(*quarter(12), 3);
}

TEST(Result, CarriesTheFirstErrorThroughTry) {
  const Result<int> result = quarter(6);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().message, "odd");
}

TEST(Result, GainsContextOnItsWayUp) {
  EXPECT_EQ(with_context("a.jsonl:3", half(1).error()).message, "a.jsonl:3: odd");
}

}  // namespace
}  // namespace kin
