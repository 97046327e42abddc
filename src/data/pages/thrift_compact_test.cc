#include "data/pages/thrift_compact.h"

#include <gtest/gtest.h>

namespace kin::data {
namespace {

using namespace std::string_literals;

TEST(ThriftCompact, ReadsAndWritesTheBytesOfTheSpecification) {
  // {1: i32 -1, 2: "ab", 18: list of 16 i32 (0 … 15), 19: true, 20: {1: i64 300}}
  std::string bytes = "\x15\x01\x18\x02"s + "ab";
  bytes += "\x09\x24\xf5\x10"s;
  for (int i = 0; i < 16; ++i) bytes += static_cast<char>(i * 2);
  bytes += "\x11\x1c\x16\xd8\x04\x00\x00"s;
  auto value = decode_thrift(bytes).value();
  EXPECT_EQ(value.field(1)->number, -1);
  EXPECT_EQ(value.field(2)->bytes, "ab");
  EXPECT_EQ(value.field(18)->items.at(15).number, 15);
  EXPECT_EQ(value.field(19)->type, ThriftType::kTrue);
  EXPECT_EQ(value.field(20)->field(1)->number, 300);
  EXPECT_EQ(value.field(3), nullptr);
  std::string again;
  encode_thrift(again, value);
  EXPECT_EQ(again, bytes);
}

TEST(ThriftCompact, RefusesWhatIsCutOffOrGoesOn) {
  const std::string bytes = "\x15\x01\x18\x02"s + "ab\0"s;
  ASSERT_TRUE(decode_thrift(bytes).ok());
  for (std::size_t i = 0; i < bytes.size(); ++i)
    EXPECT_FALSE(decode_thrift(bytes.substr(0, i)).ok()) << i;
  EXPECT_FALSE(decode_thrift(bytes + "x").ok());
  EXPECT_FALSE(decode_thrift("\x1b\x00\x00"s).ok());
  EXPECT_FALSE(decode_thrift("\x18\xff\xff\xff\xff\x0f"s).ok());
  EXPECT_FALSE(decode_thrift(std::string(100, '\x1c')).ok());
}

}  // namespace
}  // namespace kin::data
