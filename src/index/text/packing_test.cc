#include "index/text/packing.h"

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

TEST(TextPacking, GivesBackNumbersOfOneToFourBytes) {
  Random random(2);
  for (std::uint32_t count = 0; count < 200; ++count) {
    std::vector<std::uint32_t> numbers(count);
    for (auto& number : numbers)
      number = static_cast<std::uint32_t>(random.next() >> (32 + random.below(32)));
    std::string bytes = "before";
    append_numbers(bytes, numbers);
    const std::string_view packed = std::string_view(bytes).substr(6);
    EXPECT_EQ(numbers_size(packed, count), packed.size());
    if (count > 0) {
      EXPECT_EQ(numbers_size(packed.substr(0, packed.size() - 1), count), std::nullopt);
    }
    const std::string padded = std::string(packed) + std::string(kReadAhead, '\xFF');
    const auto* const in = reinterpret_cast<const std::uint8_t*>(padded.data());
    std::vector<std::uint32_t> read(count);
    EXPECT_EQ(read_numbers(in, count, read.data()), in + packed.size());
    EXPECT_EQ(read, numbers);
  }
}

TEST(TextPacking, LaysNumbersOutAsStreamVByteDoes) {
  std::string bytes;
  append_numbers(bytes, std::vector<std::uint32_t>{1, 0x203, 0x40506, 0x708090A, 11});
  EXPECT_EQ(bytes, std::string("\xE4\x00\x01\x03\x02\x06\x05\x04\x0A\x09\x08\x07\x0B", 13));
}

}  // namespace
}  // namespace kin::index
