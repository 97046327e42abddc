#include "data/duckdb/sql_type.h"

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

TEST(SqlType, IsParsedIntoATree) {
  const SqlType type =
      parse_type("STRUCT(a BIGINT, \"b \"\"c, d\" DECIMAL(9,2)[], m MAP(VARCHAR, STRUCT(x DATE)))");
  EXPECT_EQ(type.kind, SqlType::Kind::kStruct);
  EXPECT_EQ(type.names, (std::vector<std::string>{"a", "b \"c, d", "m"}));
  EXPECT_EQ(type.inner[0].text, "BIGINT");
  EXPECT_EQ(type.inner[1].kind, SqlType::Kind::kList);
  EXPECT_EQ(type.inner[1].inner[0].text, "DECIMAL(9,2)");
  EXPECT_EQ(type.inner[2].kind, SqlType::Kind::kMap);
  EXPECT_EQ(type.inner[2].inner[1].inner[0].text, "DATE");
}

TEST(SqlType, ReplacesValuesInsideAndLeavesOthersAlone) {
  const auto replace = [](const std::string& value, const std::string& type) {
    return type == "DATE" ? "f(" + value + ")" : value;
  };
  EXPECT_EQ(replace_values("x", parse_type("DATE"), replace), "f(x)");
  EXPECT_EQ(replace_values("x", parse_type("STRUCT(a INTEGER[])"), replace), "x");
  EXPECT_EQ(replace_values("x", parse_type("STRUCT(a DATE, b INTEGER)"), replace),
            "CASE WHEN x IS NOT NULL THEN struct_pack(\"a\" := f(struct_extract(x, 'a')), \"b\" := "
            "struct_extract(x, 'b')) END");
}

}  // namespace
}  // namespace kin::data
