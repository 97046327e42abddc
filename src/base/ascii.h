// Letters and digits of ASCII, whatever the locale: what protocols and mark-up are written in.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace kin {

// All of these are thread-safe, and leave bytes that are not ASCII alone.
constexpr bool is_ascii_digit(char c) {
  return c >= '0' && c <= '9';
}
constexpr char ascii_lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}
constexpr bool is_ascii_alpha(char c) {
  return ascii_lower(c) >= 'a' && ascii_lower(c) <= 'z';
}
// -1 for what is no hexadecimal digit.
constexpr int hex_value(char c) {
  if (is_ascii_digit(c)) return c - '0';
  const char small = ascii_lower(c);
  return small >= 'a' && small <= 'f' ? small - 'a' + 10 : -1;
}

inline std::string ascii_lowered(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](char c) { return ascii_lower(c); });
  return out;
}
inline bool same_but_for_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) { return ascii_lower(x) == ascii_lower(y); });
}

}  // namespace kin
