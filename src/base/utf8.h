// Well-formed UTF-8.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kin {

// The length of the well-formed sequence at `from`, which lies before `end` and is not ASCII, or 0:
// table 3-7 of the Unicode Standard. Thread-safe.
inline std::size_t utf8_sequence_length(const char* from, const char* end) {
  const auto is_tail = [](char byte) { return (static_cast<std::uint8_t>(byte) & 0xC0) == 0x80; };
  const auto lead = static_cast<std::uint8_t>(*from);
  const std::ptrdiff_t left = end - from;
  if (lead < 0xC2 || lead > 0xF4 || left < 2) return 0;
  const auto second = static_cast<std::uint8_t>(from[1]);
  if (lead < 0xE0) return is_tail(from[1]) ? 2 : 0;
  if (lead < 0xF0) {
    const std::uint8_t low = lead == 0xE0 ? 0xA0 : 0x80;
    const std::uint8_t high = lead == 0xED ? 0x9F : 0xBF;
    return left >= 3 && second >= low && second <= high && is_tail(from[2]) ? 3 : 0;
  }
  const std::uint8_t low = lead == 0xF0 ? 0x90 : 0x80;
  const std::uint8_t high = lead == 0xF4 ? 0x8F : 0xBF;
  const bool whole = left >= 4 && is_tail(from[2]) && is_tail(from[3]);
  return whole && second >= low && second <= high ? 4 : 0;
}

// The number of characters: of bytes that do not continue one. Thread-safe.
inline std::size_t utf8_characters(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char byte) { return (static_cast<std::uint8_t>(byte) & 0xC0) != 0x80; }));
}

}  // namespace kin
