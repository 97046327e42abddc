#include "base/base64.h"

#include <gtest/gtest.h>

namespace kin {
namespace {

TEST(Base64, GoesBothWays) {
  // RFC 4648, section 10.
  for (const auto& [plain, coded] : {std::pair{"", ""},
                                     {"f", "Zg=="},
                                     {"fo", "Zm8="},
                                     {"foo", "Zm9v"},
                                     {"foob", "Zm9vYg=="},
                                     {"fooba", "Zm9vYmE="},
                                     {"foobar", "Zm9vYmFy"}}) {
    EXPECT_EQ(to_base64(plain), coded);
    EXPECT_EQ(from_base64(coded), plain);
  }
  std::string all;
  for (int i = 0; i < 256; ++i) all += static_cast<char>(i);
  EXPECT_EQ(from_base64(to_base64(all)), all);
}

TEST(Base64, RefusesWhatNoEncoderWrites) {
  for (const char* wrong : {"Z", "Zg", "Zg=", "Zh==", "Zm9=", "Z===", "Zm 9", "Zm-_", "=Zg="})
    EXPECT_FALSE(from_base64(wrong)) << wrong;
}

}  // namespace
}  // namespace kin
