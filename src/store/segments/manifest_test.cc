#include "store/segments/manifest.h"

#include <gtest/gtest.h>

#include "base/hash.h"

namespace kin::store {
namespace {

TableManifest sample() {
  TableManifest manifest{.number = 7,
                         .description = "parameters",
                         .records = 99,
                         .capped = 1,
                         .removed = 2,
                         .first = 3,
                         .cleaned = 5};
  manifest.cleaned_at = WallTime(std::chrono::milliseconds(1'234'567));
  manifest.segments = {{"segments/a", 1000, 100, 77, 12}, {"segments/b", 2000, 200, 78, 13}};
  manifest.retired = {{"segments/c", WallTime(std::chrono::milliseconds(42))}};
  return manifest;
}

TEST(TableManifest, ComesBackAsItWas) {
  const auto back = decode_table_manifest(encode(sample()));
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ(*back, sample());
}

TEST(TableManifest, EveryFlippedBitAndEveryCutIsNoticed) {
  const std::string good = encode(sample());
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_FALSE(decode_table_manifest(bad).ok()) << bit;
  }
  for (std::size_t size = 0; size < good.size(); ++size)
    EXPECT_FALSE(decode_table_manifest(good.substr(0, size)).ok()) << size;
}

TEST(TableManifest, NamesOfNewerOnesComeFirst) {
  EXPECT_LT(manifest_name(2), manifest_name(1));
  EXPECT_LT(manifest_name(1'000'000), manifest_name(999'999));
  EXPECT_EQ(manifest_number(manifest_name(12)), 12U);
  EXPECT_EQ(manifest_number("manifests/12"), std::nullopt);
  EXPECT_EQ(manifest_number("segments/fffffffffffffff0"), std::nullopt);
}

TEST(TableManifest, NamesOfSegmentsTellTheirTime) {
  const WallTime at(std::chrono::milliseconds(1'700'000'000'000));
  EXPECT_EQ(segment_begun(segment_name(at, 5)), at);
  EXPECT_EQ(segment_begun("segments/other"), std::nullopt);
  EXPECT_NE(segment_name(at, 5), segment_name(at, 6));
}

// The bytes in the bucket, for ever.
TEST(TableManifest, Golden) {
  EXPECT_EQ(hash64(encode(sample())), 0x8ca4d980f8563009U) << std::hex << hash64(encode(sample()));
  EXPECT_EQ(manifest_name(1), "manifests/fffffffffffffffe");
}

}  // namespace
}  // namespace kin::store
