#include "dedup/exact_deduplicator.h"

#include <gtest/gtest.h>

#include <string>

namespace kin::dedup {
namespace {

RecordId id_of(std::uint64_t number) {
  return RecordId(static_cast<std::uint32_t>(number));
}

TEST(ExactDeduplicator, TheFirstRecordWithATextStays) {
  ExactDeduplicator deduplicator;
  EXPECT_FALSE(deduplicator.process_record(id_of(3), "one").duplicate);
  EXPECT_FALSE(deduplicator.process_record(id_of(4), "two").duplicate);
  const Verdict verdict = deduplicator.process_record(id_of(5), "one");
  EXPECT_TRUE(verdict.duplicate);
  EXPECT_EQ(verdict.of, id_of(3));
  EXPECT_EQ(verdict.similarity, 1.0);
  EXPECT_EQ(deduplicator.len(), 2U);
}

TEST(ExactDeduplicator, EveryByteCountsUnlessNormalised) {
  ExactDeduplicator strict;
  ExactDeduplicator lenient({.normalization = text::Normalization::kStandard});
  strict.process_record(id_of(0), "Hello, World!");
  lenient.process_record(id_of(0), "Hello, World!");
  EXPECT_FALSE(strict.process_record(id_of(1), "hello   world").duplicate);
  EXPECT_TRUE(lenient.process_record(id_of(1), "hello   world").duplicate);
}

TEST(ExactDeduplicator, TheEmptyTextIsATextLikeAnyOther) {
  ExactDeduplicator deduplicator;
  EXPECT_FALSE(deduplicator.process_record(id_of(0), "").duplicate);
  EXPECT_TRUE(deduplicator.process_record(id_of(1), "").duplicate);
}

TEST(ExactDeduplicator, FindLooksWithoutAdding) {
  ExactDeduplicator deduplicator;
  EXPECT_FALSE(deduplicator.find("text").has_value());
  EXPECT_FALSE(deduplicator.process_record(id_of(9), "text").duplicate);
  EXPECT_EQ(deduplicator.find("text"), id_of(9));
  deduplicator.clear();
  EXPECT_FALSE(deduplicator.find("text").has_value());
  EXPECT_EQ(deduplicator.len(), 0U);
}

TEST(ExactDeduplicator, HashesThatDifferInAnyPartAreDifferent) {
  ExactDeduplicator deduplicator;
  const Hash128 hash{.low = 0x0123456789abcdefULL, .high = 0xfedcba9876543210ULL};
  deduplicator.process_hash(id_of(0), hash);
  for (int bit = 0; bit < 64; ++bit) {
    Hash128 low = hash;
    low.low ^= std::uint64_t{1} << bit;
    Hash128 high = hash;
    high.high ^= std::uint64_t{1} << bit;
    EXPECT_FALSE(deduplicator.process_hash(id_of(1 + bit * 2), low).duplicate);
    EXPECT_FALSE(deduplicator.process_hash(id_of(2 + bit * 2), high).duplicate);
  }
  EXPECT_EQ(deduplicator.process_hash(id_of(999), hash).of, id_of(0));
}

TEST(ExactDeduplicator, TakesAtMost24BytesARecordAtEverySize) {
  ExactDeduplicator deduplicator;
  const std::size_t fixed = (std::size_t{1} << 20) + (std::size_t{1} << 17);
  for (std::uint64_t i = 0; i < 400'000; ++i) {
    ASSERT_FALSE(deduplicator.process_record(id_of(i), std::to_string(i)).duplicate);
    if (i % 1'000 != 0) continue;
    ASSERT_LE(deduplicator.bytes(), 24 * (i + 1) + fixed) << i;
  }
  for (std::uint64_t i = 0; i < 400'000; i += 13) {
    ASSERT_EQ(deduplicator.process_record(id_of(500'000), std::to_string(i)).of, id_of(i));
  }
}

}  // namespace
}  // namespace kin::dedup
