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

}  // namespace
}  // namespace kin::cloud
