#include "sketch/simhash.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "base/hash.h"

namespace kin::sketch {
namespace {

using Features = std::vector<std::uint64_t>;

std::uint64_t simhash_plain(const Features& features) {
  std::uint64_t hash = 0;
  for (int bit = 0; bit < 64; ++bit) {
    std::int64_t balance = 0;
    for (const std::uint64_t feature : features)
      balance += (mix64(feature) >> bit & 1) != 0 ? 1 : -1;
    if (balance > 0) hash |= std::uint64_t{1} << bit;
  }
  return hash;
}

TEST(Simhash, AgreesWithItsDefinition) {
  std::mt19937_64 random(2);
  for (const std::size_t size : {0U, 1U, 2U, 3U, 254U, 255U, 256U, 1'000U}) {
    Features features(size);
    for (auto& feature : features) feature = random();
    EXPECT_EQ(simhash64(features), simhash_plain(features)) << size;
  }
}

TEST(Simhash, ValuesAreTheSameForEver) {
  static_assert(kSimhashVersion == 1);
  EXPECT_EQ(simhash64(Features{}), 0U);
  EXPECT_EQ(simhash64(Features{1}), 0xb456bcfc34c2cb2cULL);
  EXPECT_EQ(simhash64(Features{1, 2, 3, 4, 5}), 0x1652846425c0d965ULL);
}

TEST(Simhash, WeighsFeaturesByTheirRepeats) {
  EXPECT_EQ(simhash64(Features{8, 8, 8, 1, 2}), simhash64(Features{8}));
}

TEST(Simhash, PutsSimilarSetsNearAndOthersFar) {
  std::mt19937_64 random(4);
  Features a(500);
  for (auto& feature : a) feature = random();
  Features near = a;
  for (std::size_t i = 0; i < 5; ++i) near[i] = random();
  Features far(500);
  for (auto& feature : far) feature = random();
  EXPECT_LE(hamming(simhash64(a), simhash64(near)), 8);
  EXPECT_GE(hamming(simhash64(a), simhash64(far)), 16);
}

}  // namespace
}  // namespace kin::sketch
