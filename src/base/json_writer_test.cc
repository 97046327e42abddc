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

TEST(JsonWriter, EscapesEveryByteAtEveryPlace) {
  for (int byte = 0; byte < 0x80; ++byte) {
    const char c = static_cast<char>(byte);
    std::string alone;
    append_json_string(alone, std::string(1, c));
    const std::string escaped = alone.substr(1, alone.size() - 2);
    EXPECT_EQ(escaped.size() == 1, byte >= 0x20 && c != '"' && c != '\\') << byte;
    for (std::size_t at = 0; at < 18; ++at) {
      std::string text(18, '~');
      text[at] = c;
      text[17 - at / 2] = c;
      std::string expected = "\"";
      for (const char one : text) expected += one == c ? escaped : std::string(1, one);
      std::string out;
      append_json_string(out, text);
      EXPECT_EQ(out, expected + '"') << byte << " at " << at;
    }
  }
}

TEST(JsonWriter, ReplacesBytesThatAreNotUtf8) {
  std::string out;
  append_json_string(out, "a\xFF\xC3");
  EXPECT_EQ(out, "\"a\xEF\xBF\xBD\xEF\xBF\xBD\"");
}

}  // namespace
}  // namespace kin
