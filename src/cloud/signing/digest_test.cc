#include "cloud/signing/digest.h"

#include <gtest/gtest.h>

#include "base/ascii.h"

namespace kin::cloud {
namespace {

TEST(Digest, AgreesWithPublishedValues) {
  EXPECT_EQ(to_hex(sha256("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  // RFC 4231, test case 2.
  EXPECT_EQ(to_hex(hmac_sha256("Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(crc32("123456789"), 0xCBF43926U);
}

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
}  // namespace kin::cloud
