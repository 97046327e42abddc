#include "store/seen/manifest.h"

#include <gtest/gtest.h>

namespace kin::store {
namespace {

SeenManifest sample() {
  SeenManifest manifest{.kind = IdKind::kText, .seed = 99, .next_number = 12, .first_log = 3};
  manifest.durable_log = 4;
  manifest.durable_bytes = 1234;
  const PieceInfo piece{5, 100, 2, 77, {1, 2}, {3, 4}};
  manifest.runs.push_back({.number = 4, .into = 7, .ids = 100, .digest = 77, .pieces = {piece}});
  manifest.runs.push_back({.number = 7, .growing = true, .from = {9, 9}});
  return manifest;
}

TEST(SeenManifest, ComesBackAsItWas) {
  const auto back = decode_seen_manifest(encode(sample()));
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(*back, sample());
}

TEST(SeenManifest, CountsAnIdOnceWhileItMoves) {
  EXPECT_EQ(ids_in_runs(sample()), 100U);
}

TEST(SeenManifest, EveryFlippedBitAndEveryCutIsNoticed) {
  const std::string good = encode(sample());
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_FALSE(decode_seen_manifest(bad).ok()) << bit;
  }
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_FALSE(decode_seen_manifest(good.substr(0, size)).ok()) << size;
  }
}

// The bytes on disk, for ever.
TEST(SeenManifest, Golden) {
  EXPECT_EQ(hash64(encode(sample())), 0x18d56b049f8ff27cU) << std::hex << hash64(encode(sample()));
}

}  // namespace
}  // namespace kin::store
