// Reading UTF-8 one character at a time, and over ASCII many bytes at a time.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/bytes.h"

namespace kin::text {

// The character that an ill-formed byte is read as. It is one byte too, so that texts do not grow.
inline constexpr char32_t kReplacement = U'?';

inline bool is_ascii(char byte) {
  return static_cast<signed char>(byte) >= 0;
}

// The first byte in [from, end) that is not ASCII, or `end`.
inline const char* skip_ascii(const char* from, const char* end) {
  constexpr std::uint64_t kHighBits = 0x8080808080808080ULL;
  for (; end - from >= 32; from += 32) {
    std::uint64_t high = 0;
    for (const int at : {0, 8, 16, 24}) high |= load_le<std::uint64_t>(from + at);
    if ((high & kHighBits) != 0) break;
  }
  for (; end - from >= 8; from += 8) {
    const std::uint64_t high = load_le<std::uint64_t>(from) & kHighBits;
    if (high != 0) return from + std::countr_zero(high) / 8;
  }
  while (from != end && is_ascii(*from)) ++from;
  return from;
}

struct Decoded {
  char32_t character;
  std::uint32_t length;
};

// The character at `from`, which must not be an ASCII byte. Ill-formed bytes never lead outside
// [from, end) or to a character above U+10FFFF.
inline Decoded decode_multibyte(const char* from, const char* end) {
  const auto byte = [from](int i) {
    return static_cast<std::uint32_t>(static_cast<std::uint8_t>(from[i]));
  };
  const auto tail = [&byte](int i) { return byte(i) & 0x3F; };
  const std::ptrdiff_t left = end - from;
  const std::uint32_t lead = byte(0);
  if (lead >= 0xE0 && lead < 0xF0 && left >= 3) {
    return {static_cast<char32_t>((lead & 0x0F) << 12 | tail(1) << 6 | tail(2)), 3};
  }
  if (lead >= 0xC0 && lead < 0xE0 && left >= 2) {
    return {static_cast<char32_t>((lead & 0x1F) << 6 | tail(1)), 2};
  }
  if (lead >= 0xF0 && left >= 4) {
    const std::uint32_t value = (lead & 0x07) << 18 | tail(1) << 12 | tail(2) << 6 | tail(3);
    return {value <= 0x10FFFF ? static_cast<char32_t>(value) : kReplacement, 4};
  }
  return {kReplacement, 1};
}

// The same for any character.
inline Decoded decode(const char* from, const char* end) {
  return is_ascii(*from) ? Decoded{static_cast<char32_t>(*from), 1} : decode_multibyte(from, end);
}

}  // namespace kin::text
