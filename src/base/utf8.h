// Well-formed UTF-8.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace kin {

// All of these are thread-safe.

// Whether `byte` continues a character, rather than being its first byte.
constexpr bool is_utf8_tail(char byte) {
  return (static_cast<std::uint8_t>(byte) & 0xC0) == 0x80;
}

// The start of the character that byte `at` belongs to. `at` is less than text.size().
constexpr std::size_t character_start(std::string_view text, std::size_t at) {
  while (at > 0 && is_utf8_tail(text[at])) --at;
  return at;
}

// `character` is at most U+10FFFF.
inline void append_utf8(std::string& out, char32_t character) {
  if (character < 0x80) {
    out += static_cast<char>(character);
    return;
  }
  const int tails = character < 0x800 ? 1 : character < 0x10000 ? 2 : 3;
  constexpr char32_t kLeads[] = {0, 0xC0, 0xE0, 0xF0};
  out += static_cast<char>(kLeads[tails] | character >> (6 * tails));
  for (int i = tails - 1; i >= 0; --i) {
    out += static_cast<char>(0x80 | (character >> (6 * i) & 0x3F));
  }
}

// The length of the well-formed sequence at `from`, which lies before `end` and is not ASCII, or 0:
// table 3-7 of the Unicode Standard.
inline std::size_t utf8_sequence_length(const char* from, const char* end) {
  const auto lead = static_cast<std::uint8_t>(*from);
  const std::ptrdiff_t left = end - from;
  if (lead < 0xC2 || lead > 0xF4 || left < 2) return 0;
  const auto second = static_cast<std::uint8_t>(from[1]);
  if (lead < 0xE0) return is_utf8_tail(from[1]) ? 2 : 0;
  if (lead < 0xF0) {
    const std::uint8_t low = lead == 0xE0 ? 0xA0 : 0x80;
    const std::uint8_t high = lead == 0xED ? 0x9F : 0xBF;
    return left >= 3 && second >= low && second <= high && is_utf8_tail(from[2]) ? 3 : 0;
  }
  const std::uint8_t low = lead == 0xF0 ? 0x90 : 0x80;
  const std::uint8_t high = lead == 0xF4 ? 0x8F : 0xBF;
  const bool whole = left >= 4 && is_utf8_tail(from[2]) && is_utf8_tail(from[3]);
  return whole && second >= low && second <= high ? 4 : 0;
}

// The number of characters: of bytes that do not continue one. Thread-safe.
inline std::size_t utf8_characters(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char byte) { return (static_cast<std::uint8_t>(byte) & 0xC0) != 0x80; }));
}

}  // namespace kin
