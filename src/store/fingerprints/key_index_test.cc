#include "store/fingerprints/key_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/file.h"
#include "base/random.h"
#include "base/testing/simulated_disk.h"

namespace kin::store {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Match = KeyIndex::Match;

// So little that a run is written every few documents.
constexpr std::uint64_t kLittle = 1;

std::unique_ptr<KeyIndex> open(Disk& disk, std::uint64_t memory = kLittle) {
  return *KeyIndex::open({.disk = &disk, .folder = "keys", .memory_bytes = memory});
}

TEST(KeyIndex, FindsEveryDocumentOfAKeyInMemoryAndInRuns) {
  SimulatedDisk disk;
  const auto index = open(disk);
  Random random(15);
  std::map<std::uint64_t, std::set<std::uint32_t>> model;
  for (std::uint32_t number = 0; number < 3'000; ++number) {
    std::vector<KeyIndex::Pair> pairs;
    for (int i = 0; i < 5; ++i) {
      // Some keys are shared by hundreds of documents, and fill pages and pieces.
      const std::uint64_t key = i == 0 ? number % 7 : mix64(random.below(4'000));
      pairs.push_back({key, number});
      model[key].insert(number);
    }
    index->add(pairs);
    ASSERT_TRUE(index->settle(number + 1).ok());
  }
  EXPECT_GT(index->covered(), 2'900U);
  EXPECT_TRUE(index->verify().ok());
  std::vector<std::uint64_t> keys;
  for (const auto& [key, numbers] : model) keys.push_back(key);
  keys.push_back(~0ULL);
  std::vector<Match> expected;
  std::uint32_t at = 0;
  for (const auto& [key, numbers] : model) {
    for (const std::uint32_t number : numbers) expected.push_back({at, number});
    ++at;
  }
  EXPECT_EQ(*index->find(keys), expected);
}

TEST(KeyIndex, KeepsItsRunsWhenItIsOpenedAgain) {
  SimulatedDisk disk;
  std::uint32_t covered = 0;
  {
    const auto index = open(disk);
    for (std::uint32_t number = 0; number < 200; ++number) {
      index->add(std::vector<KeyIndex::Pair>{{mix64(number), number}});
      ASSERT_TRUE(index->settle(number + 1).ok());
    }
    covered = index->covered();
    EXPECT_GT(covered, 0U);
    EXPECT_LT(covered, 200U) << "the last ones are in memory";
  }
  const auto index = open(disk);
  EXPECT_EQ(index->covered(), covered);
  EXPECT_THAT(*index->find(std::vector{mix64(covered - 1)}), ElementsAre(Match{0, covered - 1}));
  EXPECT_THAT(*index->find(std::vector{mix64(covered)}), IsEmpty());
}

TEST(KeyIndex, SaysWhatToDoAboutADamagedFile) {
  SimulatedDisk disk;
  {
    const auto index = open(disk);
    for (std::uint32_t number = 0; number < 100; ++number)
      index->add(std::vector<KeyIndex::Pair>{{mix64(number), number}});
    ASSERT_TRUE(index->settle(100).ok());
  }
  ASSERT_TRUE((*disk.open_to_write("keys/manifest"))->write_at(20, "x").ok());
  const auto damaged = KeyIndex::open({.disk = &disk, .folder = "keys"});
  ASSERT_FALSE(damaged.ok());
  EXPECT_EQ(damaged.error().code, Code::kDataLoss);
  EXPECT_THAT(damaged.error().message, testing::HasSubstr("remove keys; it is made again"));
}

}  // namespace
}  // namespace kin::store
