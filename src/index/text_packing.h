// Blocks of 128 numbers in as few bits each as the largest needs, laid out so that four are
// unpacked at once. All functions are thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kin::index {

inline constexpr std::size_t kPackedNumbers = 128;

// The bits the largest of 128 numbers needs: 0 to 32.
std::uint32_t bits_for(const std::uint32_t* numbers);

constexpr std::size_t packed_bytes(std::uint32_t bits) {
  return kPackedNumbers / 8 * bits;
}

// Writes packed_bytes(bits). Number i is in lane i % 4 of vectors of four 32-bit words: the lane is
// a stream of its every fourth number, lowest bits first.
void pack(const std::uint32_t* numbers, std::uint32_t bits, std::uint8_t* out);
void unpack(const std::uint8_t* in, std::uint32_t bits, std::uint32_t* numbers);

}  // namespace kin::index
