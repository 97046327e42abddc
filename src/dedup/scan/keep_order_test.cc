#include "dedup/scan/keep_order.h"

#include <gtest/gtest.h>

namespace kin::dedup {
namespace {

TEST(ParseComparable, UnderstandsNumbersAndMoments) {
  EXPECT_EQ(parse_comparable("-12.5")->value, -12.5);
  EXPECT_EQ(parse_comparable("1970-01-02")->value, 86400);
  EXPECT_EQ(parse_comparable("1970-01-01T00:01:00Z")->value, 60);
  EXPECT_EQ(parse_comparable("1970-01-01 00:01:00.5")->value, 60.5);
  EXPECT_EQ(parse_comparable("1970-01-01T02:00:00+02:00")->value, 0);
  EXPECT_EQ(parse_comparable("1970-01-01T00:00+00")->value, 0);
}

TEST(ParseComparable, RefusesTheRest) {
  for (const char* text :
       {"", "soon", "2024-13-01", "2024-02-30", "2024-01-01T25:00", "12 apples", "nan"}) {
    EXPECT_FALSE(parse_comparable(text).has_value()) << text;
  }
}

TEST(KeepOrder, ReadsADateWithoutHyphensAsADate) {
  KeepOrder order(*parse_keep("newest:date"));
  EXPECT_TRUE(order.set_value(record_id(0), "20240313"));
  EXPECT_TRUE(order.set_value(record_id(1), "2024-03-12"));
  EXPECT_TRUE(order.set_value(record_id(2), "1710000000"));  // 9 March 2024
  EXPECT_TRUE(order.better(record_id(0), record_id(1)));
  EXPECT_TRUE(order.better(record_id(1), record_id(2)));
  KeepOrder numbers(*parse_keep("priority:score"));
  EXPECT_TRUE(numbers.set_value(record_id(0), "20240313"));
  EXPECT_TRUE(numbers.set_value(record_id(1), "20240314.5"));
  EXPECT_TRUE(numbers.better(record_id(1), record_id(0)));
}

TEST(KeepOrder, KeepsTheFirstByDefault) {
  const KeepOrder order(KeepPolicy{});
  EXPECT_TRUE(order.better(record_id(1), record_id(2)));
}

TEST(KeepOrder, KeepsTheNewestAndTheFirstOfEquals) {
  KeepOrder order(*parse_keep("newest:date"));
  EXPECT_TRUE(order.set_value(record_id(0), "2024-01-01"));
  EXPECT_TRUE(order.set_value(record_id(1), "2024-02-01"));
  EXPECT_TRUE(order.set_value(record_id(2), "2024-02-01"));
  EXPECT_TRUE(order.set_value(record_id(3), std::nullopt));
  EXPECT_TRUE(order.better(record_id(1), record_id(0)));
  EXPECT_TRUE(order.better(record_id(1), record_id(2)));
  EXPECT_TRUE(order.better(record_id(0), record_id(3)));
  EXPECT_FALSE(order.set_value(record_id(4), "yesterday"));
}

TEST(KeepOrder, KeepsTheOldestAlsoBeforeTheEpoch) {
  KeepOrder order(*parse_keep("oldest:date"));
  EXPECT_TRUE(order.set_value(record_id(0), "1969-01-01"));
  EXPECT_TRUE(order.set_value(record_id(1), "1950-01-01"));
  EXPECT_TRUE(order.better(record_id(1), record_id(0)));
}

TEST(KeepOrder, TellsIntegersApartThatADoubleCannot) {
  KeepOrder order(*parse_keep("newest:stamp"));
  EXPECT_TRUE(order.set_value(record_id(0), "1712345678901234001"));
  EXPECT_TRUE(order.set_value(record_id(1), "1712345678901234002"));
  EXPECT_TRUE(order.better(record_id(1), record_id(0)));
  EXPECT_LT(*parse_comparable("9223372036854775806"), *parse_comparable("9223372036854775807"));
  EXPECT_LT(*parse_comparable("-9223372036854775808"), *parse_comparable("-9223372036854775807"));
  KeepOrder again(*parse_keep("newest:stamp"));
  again.decode(order.encode(2));
  EXPECT_TRUE(again.better(record_id(1), record_id(0)));
}

TEST(KeepOrder, KeepsTheLongest) {
  KeepOrder order(*parse_keep("longest"));
  order.set_length(record_id(0), 10);
  order.set_length(record_id(1), 11);
  EXPECT_TRUE(order.better(record_id(1), record_id(0)));
}

}  // namespace
}  // namespace kin::dedup
