#include "base/ascii.h"

#include <gtest/gtest.h>

namespace kin {
namespace {

TEST(Ascii, LowersLettersAndNothingElse) {
  EXPECT_EQ(ascii_lowered("AZaz09@[`{"), "azaz09@[`{");
  EXPECT_EQ(ascii_lowered("\xC3\x84"), "\xC3\x84");
  EXPECT_EQ(ascii_upper('z'), 'Z');
  EXPECT_EQ(ascii_upper('{'), '{');
}

TEST(Ascii, ComparesWithoutCase) {
  EXPECT_TRUE(same_but_for_case("Content-TYPE", "content-type"));
  EXPECT_FALSE(same_but_for_case("a", "ab"));
  EXPECT_FALSE(same_but_for_case("@", "`"));
}

TEST(Ascii, KnowsLettersAndDigits) {
  EXPECT_TRUE(is_ascii_alpha('A') && is_ascii_alpha('z') && is_ascii_digit('9'));
  EXPECT_FALSE(is_ascii_alpha('@') || is_ascii_alpha('[') || is_ascii_alpha('\xE4'));
  EXPECT_EQ(hex_value('0') + hex_value('a') + hex_value('F'), 25);
  EXPECT_EQ(hex_value('g'), -1);
}

TEST(Ascii, WritesBytesAsHexadecimalDigits) {
  EXPECT_EQ(to_hex(std::string_view("\x00\x7f\xff", 3)), "007fff");
  EXPECT_EQ(percent_escape('/'), "%2F");
  EXPECT_EQ(percent_escape('\xE4'), "%E4");
}

}  // namespace
}  // namespace kin
