#include "base/json_writer.h"

#include <gtest/gtest.h>

namespace kin {
namespace {

TEST(JsonWriter, NestsObjectsAndArrays) {
  JsonWriter json;
  json.begin_object()
      .field("a", 1)
      .key("b")
      .begin_array()
      .value("x")
      .value(true)
      .null()
      .end()
      .end();
  EXPECT_EQ(json.text(), R"({"a":1,"b":["x",true,null]})");
}

TEST(JsonWriter, IndentsForPeople) {
  JsonWriter json(2);
  json.begin_object().field("a", 0.5).key("b").begin_object().end().end();
  EXPECT_EQ(json.text(), "{\n  \"a\": 0.5,\n  \"b\": {}\n}");
}

TEST(JsonWriter, EscapesWhatMustBe) {
  std::string out;
  append_json_string(out, "a\"\\\n\x01é");
  EXPECT_EQ(out, "\"a\\\"\\\\\\n\\u0001é\"");
}

TEST(JsonWriter, ReplacesBytesThatAreNotUtf8) {
  std::string out;
  append_json_string(out, "a\xFF\xC3");
  EXPECT_EQ(out, "\"a\xEF\xBF\xBD\xEF\xBF\xBD\"");
}

}  // namespace
}  // namespace kin
