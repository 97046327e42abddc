#include "stories/grouping/term_table.h"

#include <gtest/gtest.h>

#include <unordered_map>

#include "base/hash.h"
#include "base/random.h"

namespace kin::stories {
namespace {

TEST(TermTable, FindsNothingWhileEmpty) {
  TermTable table;
  table.prefetch(1);
  EXPECT_FALSE(table.find(1));
  EXPECT_EQ(table.size(), 0u);
}

TEST(TermTable, KeepsTheOthersWhenOneOfARunGoes) {
  TermTable table;
  // All have the last place as their home, so the run goes on at the front.
  constexpr std::uint64_t kHome = 1'023;
  for (std::uint64_t i = 0; i < 5; ++i) table.insert((i << 32) | kHome, TermId{7});
  table.insert(1, TermId{8});
  table.erase((std::uint64_t{1} << 32) | kHome);
  EXPECT_FALSE(table.find((std::uint64_t{1} << 32) | kHome));
  for (const std::uint64_t i : {0, 2, 3, 4})
    EXPECT_EQ(table.find((i << 32) | kHome), TermId{7}) << i;
  EXPECT_EQ(table.find(1), TermId{8});
}

TEST(TermTable, EqualsAMapAfterManyChanges) {
  TermTable table;
  std::unordered_map<std::uint64_t, TermId> expected;
  Random random(1);
  for (std::uint32_t i = 0; i < 100'000; ++i) {
    // Few homes, so that runs are long.
    const std::uint64_t key = mix64(random.below(3'000) + 1) & ~std::uint64_t{0xF0};
    if (const auto found = table.find(key)) {
      ASSERT_EQ(*found, expected.at(key));
      table.erase(key);
      expected.erase(key);
    } else {
      ASSERT_FALSE(expected.contains(key));
      table.insert(key, TermId{i});
      expected.emplace(key, TermId{i});
    }
    ASSERT_EQ(table.size(), expected.size());
  }
  for (const auto& [key, id] : expected) EXPECT_EQ(table.find(key), id);
}

}  // namespace
}  // namespace kin::stories
