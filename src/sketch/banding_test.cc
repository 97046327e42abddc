#include "sketch/banding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "sketch/minhash.h"

namespace kin::sketch {
namespace {

using ::testing::ElementsAre;

TEST(ChooseBanding, TakesTheMostRowsThatReachTheRecall) {
  EXPECT_EQ(*choose_banding(128, 0.8), (Banding{21, 6}));
  EXPECT_EQ(*choose_banding(128, 1.0), (Banding{1, 128}));
  for (const double threshold : {0.3, 0.5, 0.7, 0.8, 0.9}) {
    const Banding chosen = *choose_banding(128, threshold);
    EXPECT_GE(candidate_probability(chosen, threshold), 0.99);
    for (std::uint32_t rows = chosen.rows + 1; rows <= 128; ++rows) {
      EXPECT_LT(candidate_probability({128 / rows, rows}, threshold), 0.99);
    }
  }
}

TEST(ChooseBanding, SaysWhyThereIsNone) {
  const auto none = choose_banding(4, 0.1);
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, Code::kInvalidArgument);
  EXPECT_FALSE(choose_banding(128, 0).ok());
  EXPECT_FALSE(choose_banding(128, 1.1).ok());
  EXPECT_FALSE(choose_banding(128, 0.8, 0).ok());
}

TEST(CandidateProbability, FollowsTheSCurve) {
  EXPECT_NEAR(candidate_probability({16, 8}, 0.8), 0.9470, 0.0005);
  EXPECT_NEAR(candidate_probability({9, 13}, 0.8), 0.3988, 0.0005);
  EXPECT_EQ(candidate_probability({16, 8}, 0), 0);
  EXPECT_EQ(candidate_probability({16, 8}, 1), 1);
}

TEST(ParseBanding, ReadsWhatToStringWrites) {
  EXPECT_EQ(*parse_banding("16x8"), (Banding{16, 8}));
  EXPECT_EQ(to_string(*parse_banding("20x13")), "20x13");
  for (const char* text : {"", "x", "16", "16x", "x8", "0x8", "16x0", "16x8x2", "16X8", " 16x8",
                           "-1x8", "65536x65536", "1025x1", "33x32"}) {
    EXPECT_FALSE(parse_banding(text).ok()) << text;
  }
}

TEST(BandKeys, AreTheSameForEver) {
  static_assert(kBandKeyVersion == 1);
  const std::vector<std::uint32_t> signature{1, 2, 3, 4, 5, 6, 7};
  std::vector<std::uint64_t> keys(3);
  band_keys(signature, {3, 2}, keys);
  EXPECT_THAT(keys,
              ElementsAre(0x66c0f07dc9242d28ULL, 0x4ae63d3f53939bedULL, 0x58fb54dcab0ff514ULL));
}

TEST(BandKeys, DifferBetweenBandsWithEqualRows) {
  const std::vector<std::uint32_t> signature(12, 42);
  std::vector<std::uint64_t> keys(6);
  band_keys(signature, {6, 2}, keys);
  EXPECT_EQ(std::set<std::uint64_t>(keys.begin(), keys.end()).size(), 6U);
}

// Share of the pairs of this similarity that have a band in common.
double candidate_share(Banding banding, double similarity) {
  std::mt19937_64 random(31);
  const MinHasher hasher;
  const auto keys = [&](std::span<const std::uint64_t> set) {
    std::vector<std::uint32_t> signature(hasher.hashes());
    hasher.sign(set, signature);
    std::vector<std::uint64_t> out(banding.bands);
    band_keys(signature, banding, out);
    return out;
  };
  constexpr int kPairs = 2'000;
  int candidates = 0;
  for (int i = 0; i < kPairs; ++i) {
    std::vector<std::uint64_t> a;
    std::vector<std::uint64_t> b;
    for (int k = 0; k < 100; ++k) {
      const std::uint64_t shingle = random();
      const bool shared = k < 100 * similarity;
      if (shared || k % 2 == 0) a.push_back(shingle);
      if (shared || k % 2 == 1) b.push_back(shingle);
    }
    const auto left = keys(a);
    const auto right = keys(b);
    bool found = false;
    for (std::size_t band = 0; band < left.size(); ++band) found |= left[band] == right[band];
    candidates += found;
  }
  return static_cast<double>(candidates) / kPairs;
}

TEST(BandKeys, MakeCandidatesAsOftenAsTheoryPredicts) {
  for (const Banding banding : {Banding{16, 8}, Banding{21, 6}, Banding{9, 13}}) {
    for (const double similarity : {0.5, 0.7, 0.8}) {
      EXPECT_NEAR(candidate_share(banding, similarity), candidate_probability(banding, similarity),
                  0.045)
          << to_string(banding) << ' ' << similarity;
    }
  }
}

}  // namespace
}  // namespace kin::sketch
