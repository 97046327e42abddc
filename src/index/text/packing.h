// Two encodings of numbers in few bytes. All functions are thread-safe.
//
// pack(): blocks of 128 numbers, each in as many bits as the largest needs, laid out so that four
// are unpacked at once. append_numbers(): any number of them in one to four bytes each, as
// StreamVByte does: one byte per four numbers with two bits each, the number of bytes less one,
// then the bytes of all numbers, lowest first (docs/adr/0013).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

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

// Reading may touch this many bytes past the last number.
inline constexpr std::size_t kReadAhead = 3;

void append_numbers(std::string& out, std::span<const std::uint32_t> numbers);
// The bytes `count` numbers at the front of `bytes` take up, or nothing if they are cut off.
std::optional<std::size_t> numbers_size(std::string_view bytes, std::uint32_t count);
// Returns the end of the numbers read.
const std::uint8_t* read_numbers(const std::uint8_t* in, std::uint32_t count,
                                 std::uint32_t* numbers);

}  // namespace kin::index
