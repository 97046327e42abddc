#include "base/huge_vector.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <string>

namespace kin {
namespace {

TEST(HugeVector, GrowsLikeAVector) {
  HugeVector<std::uint64_t> values;
  // From an allocator's memory to pages of its own.
  constexpr std::uint64_t kMany = 300'000;
  for (std::uint64_t i = 0; i < kMany; ++i) values.push_back(i);
  EXPECT_EQ(std::accumulate(values.begin(), values.end(), std::uint64_t{0}),
            kMany * (kMany - 1) / 2);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(values.data()) % 64, 0u);
  const HugeVector<std::uint64_t> copy = values;
  values.clear();
  values.shrink_to_fit();
  EXPECT_EQ(copy.back(), kMany - 1);
}

TEST(HugeVector, HoldsValuesThatOwnMemory) {
  HugeVector<std::string> texts(50'000, std::string(40, 'x'));
  texts.emplace_back("last");
  const HugeVector<std::string> moved = std::move(texts);
  EXPECT_EQ(moved.front(), std::string(40, 'x'));
  EXPECT_EQ(moved.back(), "last");
}

}  // namespace
}  // namespace kin
