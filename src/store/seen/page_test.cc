#include "store/seen/page.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "base/random.h"

namespace kin::store {
namespace {

constexpr SeenPlace kPlace{7, 3};

SeenPageBytes bytes_of(std::string_view page) {
  SeenPageBytes bytes;
  std::memcpy(bytes.bytes.data(), page.data(), kSeenPageBytes);
  return bytes;
}

std::vector<SeenId> random_ids(std::size_t count, IdKind kind, std::uint64_t range) {
  Random random(count + range);
  std::vector<SeenId> ids;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t high = random.next() % range;
    const std::uint64_t low = kind == IdKind::kNumber ? 0 : random.next();
    ids.push_back({high, kind == kPairs ? low >> 33 : low});
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

class SeenPageTest : public testing::TestWithParam<IdKind> {};

TEST_P(SeenPageTest, HoldsWhatWasAddedAndNothingElse) {
  for (const std::uint64_t range :
       {std::uint64_t{1000}, std::uint64_t{1} << 47, ~std::uint64_t{0}}) {
    SeenPageBuilder builder(GetParam());
    std::vector<SeenId> added;
    for (const SeenId& id : random_ids(5000, GetParam(), range)) {
      if (!builder.add(id)) break;
      added.push_back(id);
    }
    const SeenPageBytes bytes = bytes_of(builder.finish(kPlace));
    const auto page = SeenPage::read(bytes.bytes.data(), kPlace, GetParam());
    ASSERT_TRUE(page.ok());
    std::vector<SeenId> read;
    page->append_to(read);
    EXPECT_EQ(read, added);
    for (std::size_t i = 0; i < added.size(); ++i) {
      EXPECT_TRUE(page->contains(added[i]));
      const SeenId next{added[i].high, added[i].low + 1};
      EXPECT_EQ(page->contains(next), i + 1 < added.size() && added[i + 1] == next);
      EXPECT_EQ(page->lower_bound(added[i]), i);
    }
  }
}

TEST_P(SeenPageTest, IsRefusedWhenDamagedOrElsewhere) {
  SeenPageBuilder builder(GetParam());
  for (const SeenId& id : random_ids(50, GetParam(), ~std::uint64_t{0})) builder.add(id);
  const SeenPageBytes good = bytes_of(builder.finish(kPlace));
  ASSERT_TRUE(SeenPage::read(good.bytes.data(), kPlace, GetParam()).ok());
  EXPECT_FALSE(SeenPage::read(good.bytes.data(), {7, 4}, GetParam()).ok());
  EXPECT_FALSE(SeenPage::read(good.bytes.data(), {8, 3}, GetParam()).ok());
  for (std::size_t at = 0; at < kSeenPageBytes; ++at) {
    SeenPageBytes bad = good;
    bad.bytes[at] = static_cast<char>(bad.bytes[at] ^ (1 << (at % 8)));
    EXPECT_FALSE(SeenPage::read(bad.bytes.data(), kPlace, GetParam()).ok()) << at;
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, SeenPageTest,
                         testing::Values(IdKind::kNumber, IdKind::kText, kPairs));

TEST(SeenPage, IdsThatAreCloseTakeFewBits) {
  SeenPageBuilder builder(IdKind::kNumber);
  std::uint64_t count = 0;
  while (builder.add({(std::uint64_t{1} << 63) + count * 3, 0})) ++count;
  EXPECT_GT(count, 650U);  // 11 bits each instead of 64
}

// The bytes on disk, for ever.
TEST(SeenPage, Golden) {
  SeenPageBuilder builder(IdKind::kNumber);
  for (std::uint64_t i = 0; i < 100; ++i) builder.add({1000 + i * i * 977, 0});
  const std::string_view page = builder.finish({1, 2});
  EXPECT_EQ(hash64(page), 0xd9983199213d83a9U) << std::hex << hash64(page);
  SeenPageBuilder pairs(kPairs);
  for (std::uint64_t i = 0; i < 60; ++i) pairs.add({1000 + i / 3 * 977, i * 0x2000001});
  const std::string_view pair_page = pairs.finish({1, 2});
  EXPECT_EQ(hash64(pair_page), 0x0dc2c592837f5bf8U) << std::hex << hash64(pair_page);
}

}  // namespace
}  // namespace kin::store
