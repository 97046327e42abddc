#include "sketch/minhash.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "sketch/kernels/each_target.h"

namespace kin::sketch {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

std::vector<std::uint32_t> signature(const MinHasher& hasher,
                                     std::span<const std::uint64_t> shingles) {
  std::vector<std::uint32_t> out(hasher.hashes());
  hasher.sign(shingles, out);
  return out;
}

std::vector<std::uint8_t> compacted(std::span<const std::uint32_t> from) {
  std::vector<std::uint8_t> out(from.size());
  compact(from, out);
  return out;
}

std::vector<std::uint64_t> random_set(std::mt19937_64& random, std::size_t size) {
  std::vector<std::uint64_t> set(size);
  for (auto& value : set) value = random();
  return set;
}

TEST(MinHasher, IsBitIdenticalOnEveryTargetForAnyNumberOfHashes) {
  for_each_target([](const char* target) {
    std::mt19937_64 random(3);
    for (const std::uint32_t hashes :
         {1U, 2U, 7U, 16U, 31U, 64U, 100U, 128U, 129U, 200U, 256U, 1024U}) {
      const MinHasher hasher(hashes);
      for (const std::size_t size : {0U, 1U, 3U, 8U, 61U, 1'023U, 1'024U, 1'025U, 3'000U}) {
        const auto set = random_set(random, size);
        std::vector<std::uint32_t> expected(hashes);
        hasher.sign_scalar(set, expected);
        ASSERT_EQ(signature(hasher, set), expected) << target << ' ' << hashes << ' ' << size;
      }
    }
  });
}

TEST(MinHasher, FillsEverySlotForNothing) {
  EXPECT_THAT(signature(MinHasher(130), {}), Each(0xFFFFFFFFU));
}

TEST(MinHasher, IgnoresOrderAndRepeats) {
  const std::vector<std::uint64_t> once{5, 9, 2};
  const std::vector<std::uint64_t> often{2, 5, 9, 9, 5};
  EXPECT_EQ(signature(MinHasher(), once), signature(MinHasher(), often));
}

TEST(MinHasher, GivesFewerHashesAsThePrefixOfMore) {
  std::mt19937_64 random(5);
  const auto set = random_set(random, 50);
  auto more = signature(MinHasher(128), set);
  more.resize(40);
  EXPECT_EQ(signature(MinHasher(40), set), more);
}

TEST(MinHasher, SignaturesAreTheSameForEver) {
  static_assert(kMinHashVersion == 1);
  const std::vector<std::uint64_t> set{1, 2, 3, 0xFFFFFFFFFFFFFFFFULL};
  const auto found = signature(MinHasher(8), set);
  EXPECT_THAT(found, ElementsAre(0x672e0b3cU, 0x1b4d7d04U, 0x2ae8c1a0U, 0x072e1d47U, 0x8c3b8c6bU,
                                 0x0013cb14U, 0x112e3e9bU, 0x0dc28459U));
  EXPECT_THAT(compacted(found), ElementsAre(14, 71, 61, 127, 9, 59, 230, 173));
}

// Pairs of sets with a known similarity: the estimate must be unbiased and err as theory says.
struct Spread {
  double mean;
  double deviation;
};

Spread measure(double similarity, std::size_t size, std::uint32_t hashes) {
  std::mt19937_64 random(17);
  const MinHasher hasher(hashes);
  const auto common = static_cast<std::size_t>(std::lround(static_cast<double>(size) * similarity));
  constexpr int kPairs = 1'500;
  double sum = 0;
  double squares = 0;
  for (int i = 0; i < kPairs; ++i) {
    const std::vector<std::uint64_t> shared = random_set(random, common);
    std::vector<std::uint64_t> left = shared;
    std::vector<std::uint64_t> right = shared;
    for (std::size_t k = common; k < size; ++k) (k % 2 == 0 ? left : right).push_back(random());
    const auto equal =
        equal_slots(compacted(signature(hasher, left)), compacted(signature(hasher, right)));
    const double estimate = estimate_jaccard(equal, hashes);
    sum += estimate;
    squares += estimate * estimate;
  }
  const double mean = sum / kPairs;
  return {mean, std::sqrt(squares / kPairs - mean * mean)};
}

TEST(EstimateJaccard, IsUnbiasedAndErrsAsTheorySays) {
  for (const double similarity : {0.2, 0.5, 0.8, 0.95}) {
    for (const std::size_t size : {60U, 200U}) {
      const Spread spread = measure(similarity, size, 128);
      const double theory = estimate_deviation(similarity, 128);
      EXPECT_NEAR(spread.mean, similarity, 4 * theory / std::sqrt(1'500.0)) << size;
      EXPECT_NEAR(spread.deviation, theory, 0.12 * theory) << similarity << ' ' << size;
    }
  }
}

TEST(Compact, AgreesByChanceInOneSlotOf256EvenForSingleShingles) {
  std::mt19937_64 random(23);
  const MinHasher hasher;
  std::uint64_t equal = 0;
  std::uint32_t most = 0;
  constexpr int kPairs = 4'000;
  for (int i = 0; i < kPairs; ++i) {
    const auto a = compacted(signature(hasher, random_set(random, 1)));
    const auto b = compacted(signature(hasher, random_set(random, 1)));
    const std::uint32_t same = equal_slots(a, b);
    equal += same;
    most = std::max(most, same);
  }
  const double share = static_cast<double>(equal) / (128.0 * kPairs);
  EXPECT_NEAR(share, 1.0 / 256, 0.0004);
  EXPECT_LE(most, 8U);  // agreements are independent: the chance of nine is below 1e-8
}

TEST(Compact, IsTheSameOnEveryTarget) {
  std::mt19937_64 random(29);
  const auto slots = signature(MinHasher(1000), random_set(random, 20));
  const auto expected = compacted(slots);
  const auto other = compacted(signature(MinHasher(1000), random_set(random, 3)));
  const std::uint32_t same = equal_slots(expected, other);
  for_each_target([&](const char* target) {
    EXPECT_EQ(compacted(slots), expected) << target;
    EXPECT_EQ(equal_slots(expected, other), same) << target;
    EXPECT_EQ(equal_slots(expected, expected), 1000U) << target;
  });
}

TEST(EstimateJaccard, StaysBetweenZeroAndOne) {
  EXPECT_EQ(estimate_jaccard(0, 128), 0);
  EXPECT_EQ(estimate_jaccard(128, 128), 1);
  EXPECT_EQ(estimate_jaccard(0, 0), 0);
  EXPECT_NEAR(estimate_deviation(0.8, 128), 0.0355, 0.0005);
}

}  // namespace
}  // namespace kin::sketch
