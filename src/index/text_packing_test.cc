#include "index/text_packing.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/random.h"

namespace kin::index {
namespace {

TEST(TextPacking, GivesBackNumbersOfAnyWidth) {
  Random random(1);
  for (std::uint32_t bits = 0; bits <= 32; ++bits) {
    std::vector<std::uint32_t> numbers(kPackedNumbers);
    for (auto& number : numbers)
      number = static_cast<std::uint32_t>(random.next() & ((std::uint64_t{1} << bits) - 1));
    if (bits > 0) numbers[17] |= 1U << (bits - 1);
    ASSERT_EQ(bits_for(numbers.data()), bits);
    std::vector<std::uint8_t> packed(packed_bytes(bits) + 1, 0xAA);
    pack(numbers.data(), bits, packed.data());
    EXPECT_EQ(packed.back(), 0xAA) << "nothing is written behind the end";
    std::vector<std::uint32_t> unpacked(kPackedNumbers, 7);
    unpack(packed.data(), bits, unpacked.data());
    EXPECT_EQ(unpacked, numbers) << bits;
  }
}

}  // namespace
}  // namespace kin::index
