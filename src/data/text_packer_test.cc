#include "data/text_packer.h"

#include <gtest/gtest.h>

namespace kin::data {
namespace {

TEST(TextPacker, GivesBackWhatWasPacked) {
  TextPacker packer;
  std::string repeated;
  for (int i = 0; i < 1'000; ++i) repeated += "the same words again ";
  for (const std::string& text :
       {std::string(), std::string("a"), std::string("\0\xff", 2), repeated}) {
    const std::string packed(packer.pack(text));
    const auto back = packer.unpack(packed, 1 << 20);
    ASSERT_TRUE(back.ok());
    EXPECT_EQ(*back, text);
  }
  EXPECT_LT(packer.pack(repeated).size(), repeated.size() / 10);
}

TEST(TextPacker, AShortTextGrowsByOneByteAtMost) {
  TextPacker packer;
  EXPECT_EQ(packer.pack("abc").size(), 4U);
}

TEST(TextPacker, RefusesDamage) {
  TextPacker packer;
  const std::string text(10'000, 'a');
  std::string packed(packer.pack(text));
  EXPECT_EQ(packer.unpack("", 100).error().code, Code::kDataLoss);
  EXPECT_EQ(packer.unpack("\x07", 100).error().code, Code::kDataLoss);
  EXPECT_EQ(packer.unpack(packed, text.size() - 1).error().code, Code::kDataLoss);
  EXPECT_EQ(packer.unpack(packed.substr(0, packed.size() / 2), 1 << 20).error().code,
            Code::kDataLoss);
}

}  // namespace
}  // namespace kin::data
