#include "store/fingerprints/format.h"

#include <gtest/gtest.h>

#include "base/bytes.h"

namespace kin::store {
namespace {

using namespace std::chrono_literals;

Fingerprint example() {
  Fingerprint made;
  made.doc = doc_id_of("afp", "a1");
  made.key = "a1";
  made.source = "afp";
  made.type = "page";
  made.language = "en";
  made.run = "monday";
  made.created = WallTime(1'700'000'000'123ms);
  made.content = Hash128{1, 2};
  made.words = Hash128{3, 4};
  made.simhash = 5;
  made.bands = {6, 7};
  made.signature = {8, 9, 10};
  made.chunks = {ChunkHash{std::byte{11}}};
  return made;
}

TEST(FingerprintFormat, GivesBackWhatWasEncoded) {
  EXPECT_EQ(*decode_fingerprint(encode_fingerprint(example())), example());
  EXPECT_EQ(*decode_fingerprint(encode_fingerprint({})), Fingerprint{});
}

// Fingerprints are on disk in every store: these bytes stay the same for ever.
TEST(FingerprintFormat, StaysAsItIs) {
  EXPECT_EQ(hash64(encode_fingerprint(example())), 5631229197303209744U);
  EXPECT_EQ(encode_fingerprint(example()).size(), 174U);
}

TEST(FingerprintFormat, NoticesEveryFlippedBitAndEveryCut) {
  const std::string good = encode_fingerprint(example());
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x10);
    EXPECT_FALSE(decode_fingerprint(bad).ok()) << i;
    EXPECT_FALSE(decode_fingerprint(good.substr(0, i)).ok()) << i;
  }
}

TEST(FingerprintFormat, AnotherVersionIsSaidToBeOne) {
  std::string other = encode_fingerprint(example());
  other.resize(other.size() - sizeof(std::uint64_t));
  other[0] = 2;
  append_le(other, checksum(other));
  EXPECT_EQ(decode_fingerprint(other).error().code, Code::kFailedPrecondition);
}

TEST(FingerprintFormat, ParametersHaveAVersionThatNamesThem) {
  const FingerprintParameters parameters{.settings = {{"--shingle", "word:5"}}, .hamming = 3};
  EXPECT_EQ(*decode_parameters(encode_parameters(parameters)), parameters);
  EXPECT_EQ(version_of(parameters), "v1-0f6b079b");
  FingerprintParameters other = parameters;
  other.settings[0].second = "word:4";
  EXPECT_NE(version_of(other), version_of(parameters));
}

}  // namespace
}  // namespace kin::store
