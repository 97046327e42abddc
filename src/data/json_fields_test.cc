#include "data/json_fields.h"

#include <gtest/gtest.h>

namespace kin::data {
namespace {

JsonValue json(std::string_view text) {
  return parse_json(text).value();
}

std::string problem_of(const JsonFields& fields) {
  const Status status = fields.finish();
  return status.ok() ? "" : status.error().message;
}

// The problem that reading the field "x" of `object` into a T reports.
template <typename T, typename... More>
std::string problem_with(std::string_view object, const More&... more) {
  const JsonValue value = json(object);
  JsonFields fields(value);
  T out{};
  EXPECT_FALSE(fields.read("x", out, more...)) << object;
  return problem_of(fields);
}

enum class Colour { kRed, kBlue };
constexpr JsonChoice<Colour> kColours[] = {{"red", Colour::kRed}, {"blue", Colour::kBlue}};

TEST(JsonFields, ReadsEveryType) {
  const JsonValue value =
      json(R"({"s":"é","b":true,"n":-0.5,"w":12,"t":["a","b"],"one":"c","v":[1,2.5],"c":"blue"})");
  JsonFields fields(value);
  std::string text;
  bool truth = false;
  double number = 0;
  std::uint32_t whole = 0;
  std::vector<std::string> texts;
  std::vector<std::string> one;
  std::vector<float> numbers;
  Colour colour = Colour::kRed;
  EXPECT_TRUE(fields.read("s", text));
  EXPECT_TRUE(fields.read("b", truth));
  EXPECT_TRUE(fields.read("n", number, {-1, 1}));
  EXPECT_TRUE(fields.read("w", whole, {1, 12}));
  EXPECT_TRUE(fields.read("t", texts));
  EXPECT_TRUE(fields.read("one", one));
  EXPECT_TRUE(fields.read("v", numbers));
  EXPECT_TRUE(fields.read("c", colour, kColours));
  EXPECT_EQ(text, "é");
  EXPECT_TRUE(truth);
  EXPECT_EQ(number, -0.5);
  EXPECT_EQ(whole, 12u);
  EXPECT_EQ(texts, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(one, std::vector<std::string>{"c"});
  EXPECT_EQ(numbers, (std::vector<float>{1, 2.5}));
  EXPECT_EQ(colour, Colour::kBlue);
  EXPECT_EQ(problem_of(fields), "");
}

TEST(JsonFields, LeavesVariablesAloneWithoutAValue) {
  const JsonValue value = json(R"({"null":null})");
  JsonFields fields(value);
  std::string text = "before";
  std::optional<double> number;
  EXPECT_FALSE(fields.read("null", text));
  EXPECT_FALSE(fields.read("missing", text));
  EXPECT_FALSE(fields.read("missing", number));
  EXPECT_EQ(text, "before");
  EXPECT_EQ(number, std::nullopt);
  EXPECT_EQ(problem_of(fields), "");
}

TEST(JsonFields, SaysWhatAValueMustBe) {
  EXPECT_EQ(problem_with<std::string>(R"({"x":1})"), "field \"x\" must be a string");
  EXPECT_EQ(problem_with<bool>(R"({"x":1})"), "field \"x\" must be true or false");
  EXPECT_EQ(problem_with<double>(R"({"x":"1"})"), "field \"x\" must be a number");
  EXPECT_EQ(problem_with<double>(R"({"x":2})", JsonRange{0, 1}),
            "field \"x\" must be a number from 0 to 1");
  EXPECT_EQ(problem_with<std::optional<std::size_t>>(R"({"x":1.5})", JsonRange{0, 8}),
            "field \"x\" must be a whole number from 0 to 8");
  EXPECT_EQ(problem_with<std::uint8_t>(R"({"x":256})"),
            "field \"x\" must be a whole number from 0 to 255");
  EXPECT_EQ(problem_with<std::int8_t>(R"({"x":-129})"),
            "field \"x\" must be a whole number from -128 to 127");
  EXPECT_EQ(problem_with<std::uint64_t>(R"({"x":1e300})"),
            "field \"x\" must be a whole number from 0 to 9007199254740992");
  EXPECT_EQ(problem_with<std::vector<std::string>>(R"({"x":["a",1]})"),
            "field \"x\" must be a string or a list of strings");
  EXPECT_EQ(problem_with<std::vector<float>>(R"({"x":[1e300]})"),
            "field \"x\" must be a list of numbers");
  for (const char* list : {R"({"x":[1,-1]})", R"({"x":[0.5]})", R"({"x":["1"]})", R"({"x":1})"})
    EXPECT_EQ(problem_with<std::vector<std::uint64_t>>(list),
              "field \"x\" must be a list of whole numbers");
  EXPECT_EQ(problem_with<Colour>(R"({"x":"green"})", kColours),
            "field \"x\" must be one of \"red\", \"blue\"");
}

TEST(JsonFields, NamesTheWholePathOfAField) {
  const JsonValue value = json(R"({"user":{"name":7},"links":[{"to":"a"},{"to":[]}]})");
  JsonFields fields(value);
  std::string text;
  EXPECT_TRUE(fields.read_objects("links", [](JsonFields&) {}));
  EXPECT_FALSE(fields.read_objects("links", [&](JsonFields& link) { link.read("to", text); }));
  EXPECT_FALSE(fields.read_object("user", [&](JsonFields& user) { user.read("name", text); }));
  EXPECT_FALSE(fields.read_object("nobody", [](JsonFields&) { FAIL(); }));
  EXPECT_EQ(problem_of(fields), "field \"links[1].to\" must be a string");

  JsonFields other(value);
  EXPECT_FALSE(other.read_objects("user", [](JsonFields&) {}));
  EXPECT_EQ(other.status().error().message, "field \"user\" must be a list");
  const JsonValue list = json(R"({"user":[]})");
  JsonFields third(list);
  EXPECT_FALSE(third.read_object("user", [](JsonFields&) {}));
  EXPECT_EQ(third.status().error().message, "field \"user\" must be an object");
  JsonFields inner(list, "a[3]");
  inner.fail("", "is odd");
  EXPECT_EQ(inner.status().error().message, "field \"a[3]\" is odd");
  EXPECT_EQ(JsonFields(list["user"]).status().error().message, "it must be a JSON object");
}

TEST(JsonFields, RefusesFieldsThatAreMissingTwiceOrUnknown) {
  const JsonValue value = json(R"({"a":{"b":1},"c":2,"c":3})");
  JsonFields missing(value);
  missing.require("z");
  EXPECT_EQ(missing.status().error().message, "field \"z\" is missing");

  JsonFields twice(value);
  double number = 0;
  twice.read("c", number);
  EXPECT_EQ(twice.status().error().message, "field \"c\" is given twice");

  JsonFields unknown(value);
  EXPECT_EQ(unknown.status().ok(), true);
  EXPECT_EQ(problem_of(unknown), "field \"a\" is not known here");
  const JsonValue inner = json(R"({"a":{"b":1}})");
  JsonFields outer(inner);
  EXPECT_TRUE(outer.read_object("a", [](JsonFields&) {}));
  EXPECT_EQ(problem_of(outer), "field \"a.b\" is not known here");
}

TEST(JsonFields, GivesTheRestInItsOrder) {
  const JsonValue value = json(R"({"z":1,"known":2,"a":3})");
  JsonFields fields(value);
  double number = 0;
  fields.read("known", number);
  std::string names;
  fields.take_rest([&](const std::string& name, const JsonValue&) { names += name; });
  EXPECT_EQ(names, "za");
  EXPECT_EQ(fields.names(), (std::vector<std::string>{"z", "known", "a"}));
  EXPECT_EQ(problem_of(fields), "");
}

}  // namespace
}  // namespace kin::data
