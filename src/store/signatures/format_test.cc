#include "store/signatures/format.h"

#include <gtest/gtest.h>

#include "base/hash.h"

namespace kin::store {
namespace {

SignatureManifest sample() {
  return {.signature_bytes = 128,
          .slots = 5,
          .pages = {{.page = 0, .slot = 4, .present = ~std::uint64_t{0}, .checksum = 1},
                    {.page = 9, .slot = 0, .present = 1, .checksum = 0xfeedULL}}};
}

// A change here is a change of format: raise the version and keep reading the old one.
TEST(SignatureFormat, BytesOnDiskStayAsTheyWere) {
  EXPECT_EQ(hash64(encode_pages_header(128)), 0x975349864dc539cdULL);
  EXPECT_EQ(hash64(encode_manifest(sample())), 0xff2735128c85233aULL);
  EXPECT_EQ(page_checksum(7, "some signatures"), 0x1f31e83050e48fb8ULL);
  EXPECT_EQ(encode_manifest(sample()).size(), 8 + 4 * 4 + 2 * 24 + 8U);
}

TEST(SignatureFormat, DecodesWhatItEncoded) {
  EXPECT_EQ(*decode_pages_header(encode_pages_header(200)), 200U);
  EXPECT_EQ(*decode_manifest(encode_manifest(sample())), sample());
}

TEST(SignatureFormat, EveryFlippedBitOfAManifestIsFoundOut) {
  const std::string good = encode_manifest(sample());
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
    ASSERT_FALSE(decode_manifest(bad).ok()) << bit;
  }
}

TEST(SignatureFormat, EveryTruncationIsFoundOut) {
  const std::string good = encode_manifest(sample());
  for (std::size_t size = 0; size < good.size(); ++size)
    ASSERT_FALSE(decode_manifest(good.substr(0, size)).ok());
  EXPECT_FALSE(decode_pages_header(encode_pages_header(128).substr(0, 100)).ok());
}

TEST(SignatureFormat, AnotherVersionIsNamed) {
  std::string later = encode_manifest(sample());
  later[8] = 2;
  EXPECT_EQ(decode_manifest(later).error().code, Code::kFailedPrecondition);
  EXPECT_NE(decode_manifest(later).error().message.find("version 2"), std::string::npos);
}

TEST(SignatureFormat, PagesThatContradictEachOtherAreRefused) {
  SignatureManifest shared_slot = sample();
  shared_slot.pages[1].slot = 4;
  EXPECT_FALSE(decode_manifest(encode_manifest(shared_slot)).ok());
  SignatureManifest unsorted = sample();
  std::swap(unsorted.pages[0], unsorted.pages[1]);
  EXPECT_FALSE(decode_manifest(encode_manifest(unsorted)).ok());
  SignatureManifest beyond = sample();
  beyond.pages[0].slot = 5;
  EXPECT_FALSE(decode_manifest(encode_manifest(beyond)).ok());
}

}  // namespace
}  // namespace kin::store
