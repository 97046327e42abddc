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

TEST(FingerprintFormat, KeysAreReadInPlace) {
  const std::string bytes = encode_fingerprint(example());
  const auto keys = decode_keys(bytes);
  ASSERT_TRUE(keys.ok());
  EXPECT_EQ(keys->content, example().content);
  EXPECT_EQ(keys->words, example().words);
  EXPECT_EQ(keys->simhash, example().simhash);
  EXPECT_EQ(keys->bands, as_bytes_view(std::span<const std::uint64_t>(example().bands)));
  EXPECT_EQ(keys->signature, "\x08\x09\x0a");
}

TEST(FingerprintFormat, OriginsStayAsTheyAre) {
  const std::string bytes = encode_origin({.end = 258, .name = "day1.jsonl"});
  EXPECT_EQ(bytes.substr(0, 15), std::string("\x01\x02\x01\0\0day1.jsonl", 15));
  EXPECT_EQ(bytes.size(), 23U);
  const auto origin = decode_origin(bytes);
  ASSERT_TRUE(origin.ok());
  EXPECT_EQ(origin->end, 258U);
  EXPECT_EQ(origin->name, "day1.jsonl");
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string bad = bytes;
    bad[i] = static_cast<char>(bad[i] ^ 0x10);
    EXPECT_FALSE(decode_origin(bad).ok()) << i;
    EXPECT_FALSE(decode_origin(bytes.substr(0, i)).ok()) << i;
  }
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

TEST(FingerprintFormat, SettingsOfBothAreCompared) {
  const FingerprintParameters old{.settings = {{"--by", "exact"}, {"--chunk", "content:64"}}};
  FingerprintParameters now{
      .settings = {{"--by", "exact"},
                   {"--threshold", "0.8"},  // which the old version did not keep
                   {"--chunk", "cdc:64"},
                   {std::string(kColumnsSetting), "text"}}};
  EXPECT_TRUE(check_same(old, now, "s").ok());
  FingerprintParameters other = now;
  other.settings[3].second = "body";
  EXPECT_TRUE(check_same(now, other, "s").ok());  // for the caller to compare
  other.settings[1].second = "0.7";
  EXPECT_EQ(check_same(now, other, "s").error().message,
            "s was made with --threshold 0.8, and this run has --threshold 0.7 (use the same "
            "options, or another store)");
  now.settings[2].second = "cdc:128";
  EXPECT_FALSE(check_same(old, now, "s").ok());
}

}  // namespace
}  // namespace kin::store
