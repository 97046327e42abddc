#include "store/sorted_slots.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace kin::store {
namespace {

using Slots = SortedSlots<32>;

TEST(SortedSlots, FindsEveryPayloadOfATagInTheOrderTheyCame) {
  Slots slots;
  std::map<std::uint64_t, std::vector<std::uint64_t>> model;
  std::mt19937_64 random(1);
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    const std::uint64_t tag = (random() % 5'000) * 858'993;
    slots.insert(tag, i);
    model[tag].push_back(i);
  }
  for (const auto& [tag, payloads] : model) {
    const auto found = slots.find(tag);
    ASSERT_EQ(found.size(), payloads.size());
    for (std::size_t i = 0; i < found.size(); ++i)
      ASSERT_EQ(Slots::payload_of(found[i]), payloads[i]);
  }
  EXPECT_TRUE(slots.find(17).empty());
  EXPECT_EQ(slots.size(), 20'000U);
}

TEST(SortedSlots, IsNearlyFullAtEverySize) {
  Slots slots;
  std::mt19937_64 random(2);
  for (std::uint64_t i = 1; i <= 100'000; ++i) {
    slots.insert(random() >> 32, i);
    ASSERT_LE(slots.bytes(), i * 8 * 100 / 83 + 4096) << i;
  }
}

TEST(SortedSlots, TagsAtBothEndsHaveRoom) {
  Slots slots;
  for (std::uint64_t i = 0; i < 200; ++i) {
    slots.insert(0, i);
    slots.insert(0xffff'ffff, i);
  }
  EXPECT_EQ(slots.find(0).size(), 200U);
  EXPECT_EQ(slots.find(0xffff'ffff).size(), 200U);
}

TEST(SortedSlots, CompactingDropsWhatItIsToldAndGivesMemoryBack) {
  Slots slots;
  std::mt19937_64 random(3);
  std::vector<std::uint64_t> tags;
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    tags.push_back(random() >> 32);
    slots.insert(tags.back(), i);
  }
  const std::size_t before = slots.bytes();
  slots.compact([](std::uint64_t slot) { return Slots::payload_of(slot) % 4 != 0; });
  EXPECT_EQ(slots.size(), 2'500U);
  EXPECT_LT(slots.bytes(), before / 3);
  for (std::uint64_t i = 0; i < 10'000; ++i)
    ASSERT_EQ(slots.find(tags[i]).size(), i % 4 == 0 ? 1U : 0U);
  slots.compact([](std::uint64_t) { return true; });
  EXPECT_EQ(slots.size(), 0U);
  slots.insert(5, 6);
  EXPECT_EQ(slots.find(5).size(), 1U);
}

TEST(SortedSlots, ReplacesAPayloadInPlace) {
  Slots slots;
  slots.insert(9, 1);
  slots.replace(slots.find(9).front(), 2);
  EXPECT_EQ(Slots::payload_of(slots.find(9).front()), 2U);
}

}  // namespace
}  // namespace kin::store
