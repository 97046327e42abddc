#include "store/seen/block_filter.h"

#include <gtest/gtest.h>

#include "base/testing/simulated_disk.h"
#include "store/seen/filter_file.h"

namespace kin::store {
namespace {

constexpr std::uint64_t kIds = 200'000;

BlockFilter filled(double bits) {
  BlockFilter filter(kIds, bits);
  for (std::uint64_t i = 0; i < kIds; ++i) filter.add(SeenId::number(i));
  return filter;
}

double passing_share(const BlockFilter& filter) {
  std::uint64_t passed = 0;
  for (std::uint64_t i = 0; i < kIds; ++i) {
    passed += filter.may_contain(SeenId::number(kIds + i)) ? 1 : 0;
  }
  return static_cast<double>(passed) / kIds;
}

TEST(BlockFilter, LetsEveryIdPassAndFewOthers) {
  for (const auto& [bits, share] : {std::pair(8.95, 0.025), std::pair(16.0, 0.002)}) {
    const BlockFilter filter = filled(bits);
    for (std::uint64_t i = 0; i < kIds; ++i) ASSERT_TRUE(filter.may_contain(SeenId::number(i)));
    EXPECT_LT(passing_share(filter), share) << bits;
  }
}

TEST(BlockFilter, WorksOnIdsThatShareTheirLeadingBits) {
  BlockFilter filter(kIds, 8.95);
  const auto id = [](std::uint64_t i) { return SeenId{(mix64(i) >> 20) | (1ULL << 60), 0}; };
  for (std::uint64_t i = 0; i < kIds; ++i) filter.add(id(i));
  std::uint64_t passed = 0;
  for (std::uint64_t i = kIds; i < 2 * kIds; ++i) passed += filter.may_contain(id(i)) ? 1 : 0;
  EXPECT_LT(static_cast<double>(passed) / kIds, 0.025);
}

TEST(FilterFile, AnswersFromDiskAsFromMemory) {
  SimulatedDisk disk;
  ASSERT_TRUE(disk.make_folder("d").ok());
  const BlockFilter filter = filled(9);
  ASSERT_TRUE(write_filter(disk, "d/f", {42}, filter).ok());
  const auto file = FilterFile::open(disk, "d/f", {42});
  ASSERT_TRUE(file.ok());
  const auto loaded = file->load();
  ASSERT_TRUE(loaded.ok());
  for (std::uint64_t i = 0; i < 2 * kIds; i += 7) {
    const SeenId id = SeenId::number(i);
    EXPECT_EQ(*file->may_contain(id), filter.may_contain(id));
    EXPECT_EQ((*loaded)->may_contain(id), filter.may_contain(id));
  }
}

TEST(FilterFile, IsRefusedWhenItIsAnothersOrDamaged) {
  SimulatedDisk disk;
  ASSERT_TRUE(disk.make_folder("d").ok());
  ASSERT_TRUE(write_filter(disk, "d/f", {42}, BlockFilter(100, 9)).ok());
  EXPECT_FALSE(FilterFile::open(disk, "d/f", {43}).ok());
  EXPECT_EQ(FilterFile::open(disk, "d/g", {42}).error().code, Code::kNotFound);
  const std::uint64_t bits = *disk.open_to_read("d/f").value()->size() * 8;
  for (std::uint64_t bit = 0; bit < bits; bit += 61) {
    disk.flip_bit("d/f", bit);
    const auto file = FilterFile::open(disk, "d/f", {42});
    EXPECT_FALSE(file.ok() && file->load().ok()) << bit;
    disk.flip_bit("d/f", bit);
  }
}

}  // namespace
}  // namespace kin::store
