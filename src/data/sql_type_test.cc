#include "data/sql_type.h"

#include <gtest/gtest.h>

namespace kin::data {
namespace {

std::string shout(const std::string& type) {
  return replace_types(type, [](std::string_view word) { return "<" + std::string(word) + ">"; });
}

TEST(SqlType, ReplacesTypesButNotNamesThatLookLikeThem) {
  EXPECT_EQ(shout("DATE"), "<DATE>");
  EXPECT_EQ(shout("TIMESTAMP WITH TIME ZONE"), "<TIMESTAMP WITH TIME ZONE>");
  EXPECT_EQ(shout("DATE[]"), "<DATE>[]");
  EXPECT_EQ(shout("STRUCT(DATE TIMESTAMP, n BIGINT[])"), "STRUCT(DATE <TIMESTAMP>, n <BIGINT>[])");
  EXPECT_EQ(shout("STRUCT(\"my DATE, \"\"(x\" TIME, b STRUCT(\"c d\" UUID)[])"),
            "STRUCT(\"my DATE, \"\"(x\" <TIME>, b STRUCT(\"c d\" <UUID>)[])");
  EXPECT_EQ(shout("MAP(VARCHAR, DATE)"), "MAP(<VARCHAR>, <DATE>)");
  EXPECT_EQ(shout("STRUCT(a MAP(VARCHAR, DATE), TIME TIME)"),
            "STRUCT(a MAP(<VARCHAR>, <DATE>), TIME <TIME>)");
}

TEST(SqlType, TellsNestedTypes) {
  EXPECT_TRUE(is_nested("INTEGER[3]"));
  EXPECT_TRUE(is_nested("STRUCT(a INTEGER)"));
  EXPECT_TRUE(is_nested("MAP(VARCHAR, INTEGER)"));
  EXPECT_FALSE(is_nested("DECIMAL(18,3)"));
}

}  // namespace
}  // namespace kin::data
