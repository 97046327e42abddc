#include "base/format_head.h"

#include <gtest/gtest.h>

#include <string>

namespace kin {
namespace {

constexpr FormatHead kHead{.name = "a note", .magic = "NOTE"};

template <typename Version>
std::string written(std::string_view magic, Version version) {
  std::string out(magic);
  append_le(out, version);
  append_le(out, std::uint32_t{77});
  append_le(out, checksum(out));
  return out;
}

TEST(FormatHead, IsReadWithTheFieldsBehindIt) {
  const std::string bytes = written<std::uint16_t>("NOTE", 2);
  auto read = read_format<std::uint16_t>(kHead, {1, 2}, bytes);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->version, 2);
  EXPECT_EQ(read->in.read<std::uint32_t>(), 77U);
  EXPECT_TRUE(read->in.ok() && read->in.rest().empty());
  EXPECT_TRUE(read_format<std::uint8_t>({.name = "a row"}, {1}, written<std::uint8_t>("", 1)).ok());
}

TEST(FormatHead, OfAnotherVersionIsNotDamaged) {
  const auto read = read_format<std::uint32_t>(kHead, {1}, written<std::uint32_t>("NOTE", 9));
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().code, Code::kFailedPrecondition);
  EXPECT_EQ(read.error().message,
            "cannot read a note: this program does not know version 9 of the format (use the program "
            "that wrote it)");
}

TEST(FormatHead, DamagedOrShortIsDataLoss) {
  const std::string right = written<std::uint16_t>("NOTE", 1);
  std::string empty = "NOTE";
  append_le(empty, checksum(empty));
  std::string flipped = right;
  flipped[5] ^= 1;
  for (const std::string& bytes :
       {std::string(), right.substr(0, right.size() - 1), flipped, empty,
        written<std::uint16_t>("MEMO", 1)}) {
    const auto read = read_format<std::uint16_t>(kHead, {1}, bytes);
    ASSERT_FALSE(read.ok());
    EXPECT_EQ(read.error().code, Code::kDataLoss);
  }
}

}  // namespace
}  // namespace kin
