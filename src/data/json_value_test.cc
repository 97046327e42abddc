#include "data/json_value.h"

#include <gtest/gtest.h>

namespace kin::data {
namespace {

TEST(JsonValue, HoldsEveryKindOfValue) {
  const JsonValue root =
      parse_json(
          R"({"s":"\u00e9","n":-2.5,"big":18446744073709551615,"t":true,"z":null,"a":[1,[2]]})")
          .value();
  EXPECT_EQ(root["s"].text(), "é");
  EXPECT_EQ(*root["n"].number(), -2.5);
  EXPECT_EQ(*root["big"].number(), 18446744073709551615.0);
  EXPECT_TRUE(*root["t"].boolean());
  EXPECT_TRUE(root["z"].is_null());
  ASSERT_EQ(root["a"].items().size(), 2u);
  EXPECT_EQ(*root["a"].items()[1].items()[0].number(), 2);
}

TEST(JsonValue, GivesNothingWhereNothingIs) {
  const JsonValue root = parse_json(R"({"s":"text"})").value();
  EXPECT_TRUE(root["missing"]["deeper"].is_null());
  EXPECT_TRUE(root["s"].items().empty());
  EXPECT_EQ(root.text(), "");
  EXPECT_EQ(root["s"].number(), nullptr);
}

TEST(JsonValue, TakesTheFirstOfTwoMembersOfOneName) {
  EXPECT_EQ(parse_json(R"({"a":"1","a":"2"})").value()["a"].text(), "1");
}

TEST(JsonValue, RefusesWhatIsNotJson) {
  for (const char* bytes : {"", "{", "{\"a\":}", "[1,]", "nul", "\"\xFF\"", "{} {}"}) {
    const auto parsed = parse_json(bytes);
    ASSERT_FALSE(parsed.ok()) << bytes;
    EXPECT_EQ(parsed.error().code, Code::kInvalidArgument);
  }
}

TEST(JsonValue, RefusesDepthBeyondTheLimit) {
  const auto nested = [](int depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_TRUE(parse_json(nested(20)).ok());
  EXPECT_FALSE(parse_json(nested(65)).ok());
  EXPECT_FALSE(parse_json(nested(100'000)).ok());
}

}  // namespace
}  // namespace kin::data
