#include "store/lsh_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <random>

#include "base/hash.h"
#include "base/memory.h"

namespace kin::store {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Keys = std::vector<std::uint64_t>;

RecordId id_of(std::uint64_t number) {
  return RecordId(static_cast<std::uint32_t>(number));
}

Keys keys_of(std::uint64_t number, std::size_t bands = 16) {
  Keys keys(bands);
  for (std::size_t band = 0; band < bands; ++band) keys[band] = mix64(number * 64 + band);
  return keys;
}

TEST(LshIndex, FindsRecordsThatShareAtLeastOneBand) {
  LshIndex index;
  EXPECT_TRUE(index.insert(id_of(5), Keys{1, 2, 3}));
  EXPECT_TRUE(index.insert(id_of(3), Keys{1, 8, 9}));
  EXPECT_TRUE(index.insert(id_of(4), Keys{7, 7, 7}));
  EXPECT_THAT(index.query(Keys{1, 2, 0}), ElementsAre(id_of(3), id_of(5)));
  EXPECT_THAT(index.query(Keys{0, 0, 7}), ElementsAre(id_of(4)));
  EXPECT_THAT(index.query(Keys{0, 0, 0}), IsEmpty());
  EXPECT_EQ(index.len(), 3U);
}

TEST(LshIndex, TheSameKeyInAnotherBandIsAnotherKey) {
  LshIndex index;
  index.insert(id_of(1), Keys{10, 20});
  EXPECT_THAT(index.query(Keys{20, 10}), IsEmpty());
}

TEST(LshIndex, RefusesARecordThatIsThere) {
  LshIndex index;
  EXPECT_TRUE(index.insert(id_of(1), Keys{10}));
  EXPECT_FALSE(index.insert(id_of(1), Keys{11}));
  EXPECT_THAT(index.query(Keys{11}), IsEmpty());
}

TEST(LshIndex, RemovedRecordsAreNoCandidatesAndCompactingFreesThem) {
  LshIndex index;
  for (std::uint64_t i = 0; i < 40'000; ++i) index.insert(id_of(i), keys_of(i));
  const std::size_t before = index.bytes();
  for (std::uint64_t i = 0; i < 40'000; i += 2) EXPECT_TRUE(index.remove(id_of(i)));
  EXPECT_FALSE(index.remove(id_of(0)));
  EXPECT_EQ(index.len(), 20'000U);
  EXPECT_THAT(index.query(keys_of(2)), IsEmpty());
  EXPECT_THAT(index.query(keys_of(3)), ElementsAre(id_of(3)));
  index.compact();
  EXPECT_LT(index.bytes(), before);
  EXPECT_THAT(index.query(keys_of(2)), IsEmpty());
  EXPECT_THAT(index.query(keys_of(3)), ElementsAre(id_of(3)));
}

TEST(LshIndex, ARemovedRecordMayComeBackUnderOtherKeys) {
  LshIndex index;
  index.insert(id_of(1), Keys{10});
  index.remove(id_of(1));
  EXPECT_TRUE(index.insert(id_of(1), Keys{11}));
  EXPECT_THAT(index.query(Keys{10}), IsEmpty());
  EXPECT_THAT(index.query(Keys{11}), ElementsAre(id_of(1)));
}

TEST(LshIndex, AddingAndRemovingForEverStaysBounded) {
  LshIndex index;
  std::size_t most = 0;
  for (std::uint64_t i = 0; i < 60'000; ++i) {
    index.insert(id_of(i), keys_of(i));
    if (i >= 5'000) index.remove(id_of(i - 5'000));
    if (i == 10'000) most = index.bytes();
  }
  EXPECT_EQ(index.len(), 5'000U);
  EXPECT_LE(index.bytes(), most * 3 / 2);
}

TEST(LshIndex, ClearLeavesNothing) {
  LshIndex index;
  for (std::uint64_t i = 0; i < 1'000; ++i) index.insert(id_of(i), keys_of(i));
  index.clear();
  EXPECT_EQ(index.len(), 0U);
  EXPECT_THAT(index.query(keys_of(3)), IsEmpty());
  EXPECT_TRUE(index.insert(id_of(3), keys_of(3)));
}

TEST(LshIndex, SixteenBandsTakeAtMost160BytesADocumentAtEverySize) {
  LshIndex index;
  for (std::uint64_t i = 1; i <= 250'000; ++i) {
    index.insert(id_of(i), keys_of(i));
    if (i < 100'000 || i % 2'000 != 0) continue;
    ASSERT_LE(index.bytes(), 160 * i) << i;
  }
}

TEST(LshIndex, GroupsThatJustOverflowStillKeepTheBound) {
  LshIndex index;
  constexpr std::uint64_t kMany = 128'500;
  for (std::uint64_t i = 0; i < kMany; ++i) index.insert(id_of(i), keys_of(i % 500, 8));
  EXPECT_LE(index.bytes(), 160 / 2 * kMany + (std::size_t{2} << 20));
  EXPECT_EQ(index.query(keys_of(7, 8)).size(), 257U);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(LshIndex, MeasuredMemoryAgreesWithWhatItSays) {
  const std::uint64_t before = resident_bytes();
  LshIndex index;
  constexpr std::uint64_t kMany = 300'000;
  for (std::uint64_t i = 0; i < kMany; ++i) index.insert(id_of(i), keys_of(i));
  const std::uint64_t grown = resident_bytes() - std::min(before, resident_bytes());
  EXPECT_LE(grown, 161 * kMany);
  EXPECT_LE(index.bytes(), 160 * kMany);
}
#endif

TEST(LshIndex, AKeySharedByAMillionDocumentsIsNeitherSlowNorLarge) {
  LshIndex index({.max_candidates = 100});
  constexpr std::uint64_t kMany = 1'000'000;
  for (std::uint64_t i = 0; i < kMany; ++i) {
    Keys keys = keys_of(i, 2);
    keys[0] = 42;
    index.insert(id_of(i), keys);
  }
  for (std::uint64_t i = 0; i < 10'000; ++i) ASSERT_EQ(index.query(Keys{42, i}).size(), 100U);
  for (std::uint64_t i = 0; i < kMany; i += 2) index.remove(id_of(i));
  index.compact();
  EXPECT_THAT(index.query(Keys{42, 0}).front(), id_of(1));
  EXPECT_EQ(index.capped_queries(), 10'001U);
  EXPECT_LE(index.bytes(), 20 * kMany);
}

TEST(LshIndex, ALimitedQueryKeepsThoseThatShareTheMostBands) {
  LshIndex index({.max_candidates = 2});
  for (std::uint64_t i = 0; i < 2; ++i) index.insert(id_of(i), Keys{1, 20 + i, 30 + i});
  index.insert(id_of(7), Keys{9, 2, 3});
  EXPECT_THAT(index.query(Keys{1, 2, 3}), ElementsAre(id_of(0), id_of(7)));
  EXPECT_EQ(index.capped_queries(), 1U);
  EXPECT_THAT(index.query(Keys{9, 0, 0}), ElementsAre(id_of(7)));
  EXPECT_EQ(index.capped_queries(), 1U);
}

TEST(LshIndex, WithoutALimitNothingIsLeftOut) {
  LshIndex index;
  for (std::uint64_t i = 0; i < 5'000; ++i) index.insert(id_of(i), Keys{1, i});
  EXPECT_EQ(index.query(Keys{1, 0}).size(), 5'000U);
  EXPECT_EQ(index.capped_queries(), 0U);
}

}  // namespace
}  // namespace kin::store
