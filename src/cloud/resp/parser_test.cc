#include "cloud/resp/parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kin::cloud {
namespace {

using Kind = RespValue::Kind;

const std::string kReplies =
    "+OK\r\n-ERR "
    "no\r\n:-42\r\n$4\r\na\r\nb\r\n$-1\r\n$0\r\n\r\n*2\r\n$1\r\nx\r\n*1\r\n:1\r\n*-1\r\n";
const std::vector<RespValue> kValues{
    {.kind = Kind::kText, .text = "OK"},
    {.kind = Kind::kError, .text = "ERR no"},
    {.kind = Kind::kNumber, .number = -42},
    {.kind = Kind::kText, .text = "a\r\nb"},
    {.kind = Kind::kNothing},
    {.kind = Kind::kText},
    {.kind = Kind::kArray,
     .items = {{.kind = Kind::kText, .text = "x"},
               {.kind = Kind::kArray, .items = {{.kind = Kind::kNumber, .number = 1}}}}},
    {.kind = Kind::kNothing}};

TEST(RespParser, GivesRepliesWhateverThePiecesTheyComeIn) {
  for (std::size_t size = 1; size <= kReplies.size(); ++size) {
    RespParser parser;
    std::vector<RespValue> values;
    for (std::size_t at = 0; at < kReplies.size(); at += size) {
      parser.add(std::string_view(kReplies).substr(at, size));
      for (auto reply = parser.next(); reply.ok() && *reply; reply = parser.next())
        values.push_back(**reply);
    }
    EXPECT_EQ(values, kValues) << size;
  }
}

TEST(RespParser, RefusesWhatIsNotResp) {
  std::string deep;
  for (int i = 0; i < 20; ++i) deep += "*1\r\n";
  for (const std::string& wrong :
       {std::string("HTTP/1.1 400\r\n"), std::string("\r\n"), std::string(":x\r\n"),
        std::string("$-2\r\n"), std::string("$999999999999\r\n"), std::string("*9999999\r\n"),
        std::string("$1\r\nabc\r\n"), deep, std::string(100'000, '+')}) {
    RespParser parser;
    parser.add(wrong);
    EXPECT_FALSE(parser.next().ok()) << wrong.substr(0, 20);
  }
}

TEST(RespParser, WritesCommands) {
  std::string out;
  append_command(out, {"SET", "k", std::string("\r\n\0", 3)});
  EXPECT_EQ(out, std::string("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$3\r\n\r\n\0\r\n", 29));
}

}  // namespace
}  // namespace kin::cloud
