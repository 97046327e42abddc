#include "dedup/known/format.h"

#include <gtest/gtest.h>

namespace kin::dedup {
namespace {

KnownManifest sample() {
  return {.records = 12,
          .longest_text = 3'000,
          .settings = {{"--by", "exact,minhash"}, {"--hashes", "128"}},
          .files = {{0, "day1.jsonl"}, {7, "day2.jsonl"}}};
}

TEST(KnownManifest, ComesBackAsItWas) {
  const auto decoded = decode_known(encode_known(sample()));
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(*decoded, sample());
  EXPECT_EQ(*decode_known(encode_known({})), KnownManifest{});
}

// Stores of users have these bytes.
TEST(KnownManifest, HasTheBytesOfVersionOne) {
  const std::string bytes = encode_known(
      {.records = 1, .longest_text = 2, .settings = {{"a", "b"}}, .files = {{0, "c"}}});
  std::string expected("KINKNOWN\1\0\0\0", 12);
  expected += std::string("\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0", 16);
  expected += std::string("\1\0\0\0\1\0\0\0a\1\0\0\0b", 14);
  expected += std::string("\1\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0c", 17);
  ASSERT_EQ(bytes.size(), expected.size() + 8);
  EXPECT_EQ(bytes.substr(0, expected.size()), expected);
}

TEST(KnownManifest, RefusesEveryFlippedBitAndTruncation) {
  const std::string bytes = encode_known(sample());
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_FALSE(decode_known(damaged).ok()) << "bit " << bit;
  }
  for (std::size_t length = 0; length < bytes.size(); ++length)
    EXPECT_FALSE(decode_known(bytes.substr(0, length)).ok()) << length;
}

TEST(KnownManifest, RefusesFilesThatMakeNoSense) {
  KnownManifest wrong = sample();
  wrong.files[1].first = 0;
  EXPECT_FALSE(decode_known(encode_known(wrong)).ok());
  wrong = sample();
  wrong.files[1].first = 12;
  EXPECT_FALSE(decode_known(encode_known(wrong)).ok());
  wrong = sample();
  wrong.files.clear();
  EXPECT_FALSE(decode_known(encode_known(wrong)).ok());
}

TEST(KnownRow, ComesBackAsItWas) {
  for (const bool full : {true, false}) {
    KnownRow row{.simhash = full ? 5U : 0U, .bands = {1, 2, 3}, .signature = {4, 5}};
    if (full) row.exact = Hash128{6, 7};
    if (full) row.words = Hash128{8, 9};
    const std::string bytes = encode_row(row);
    EXPECT_EQ(bytes.size(), known_row_bytes(3, 2));
    KnownRow back;
    back.bands.resize(3);
    decode_row(bytes, back);
    EXPECT_EQ(back, row);
  }
}

TEST(KnownRow, IsAskedForItsKeys) {
  const std::string bytes = encode_row({.exact = Hash128{6, 7},
                                        .words = Hash128{8, 9},
                                        .simhash = 5,
                                        .bands = {1, 2, 3},
                                        .signature = {4}});
  for (const std::uint64_t key : {6, 8, 1, 2, 3})
    EXPECT_TRUE(any_key_of_row(bytes, 3, [&](std::uint64_t one) { return one == key; })) << key;
  for (const std::uint64_t key : {4, 5, 7, 9})
    EXPECT_FALSE(any_key_of_row(bytes, 3, [&](std::uint64_t one) { return one == key; })) << key;
}

TEST(KnownValue, ComesBackAsItWas) {
  const std::string with_id = encode_value({.id = "a7", .packed_text = "text"});
  EXPECT_EQ(decode_value(with_id)->id, "a7");
  EXPECT_EQ(decode_value(with_id)->packed_text, "text");
  const std::string without = encode_value({.id = {}, .packed_text = "text"});
  EXPECT_FALSE(decode_value(without)->id);
  EXPECT_FALSE(decode_value("").ok());
  EXPECT_FALSE(decode_value(with_id.substr(0, 6)).ok());
}

}  // namespace
}  // namespace kin::dedup
