#include "base/huge_array.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "base/memory.h"

namespace kin {
namespace {

TEST(HugeArray, IsZeroedAndHoldsWhatIsWritten) {
  for (const std::size_t size : {0UL, 1UL, 100UL, 65'536UL, 1'000'003UL}) {
    HugeArray<std::uint64_t> array(size);
    ASSERT_EQ(array.size(), size);
    EXPECT_TRUE(std::all_of(array.values().begin(), array.values().end(),
                            [](std::uint64_t value) { return value == 0; }));
    for (std::size_t i = 0; i < size; ++i) array[i] = i;
    const HugeArray<std::uint64_t> moved = std::move(array);
    for (std::size_t i = 0; i < size; ++i) ASSERT_EQ(moved[i], i);
  }
}

TEST(HugeArray, GivesItsMemoryBack) {
  constexpr std::size_t kBytes = std::size_t{64} << 20;
  const std::uint64_t before = resident_bytes();
  {
    HugeArray<char> array(kBytes);
    std::fill(array.values().begin(), array.values().end(), 'x');
    EXPECT_GE(resident_bytes(), before + kBytes / 2);
  }
  EXPECT_LT(resident_bytes(), before + kBytes / 2);
}

}  // namespace
}  // namespace kin
