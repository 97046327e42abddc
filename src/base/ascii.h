// ASCII letters and digits, whatever the locale: protocols and mark-up are written in ASCII.
#pragma once

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>

namespace kin {

// All of these are thread-safe, and keep bytes that are not ASCII as they are.
constexpr bool is_ascii_digit(char c) {
  return c >= '0' && c <= '9';
}
constexpr char ascii_lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}
constexpr bool is_ascii_alpha(char c) {
  return ascii_lower(c) >= 'a' && ascii_lower(c) <= 'z';
}
constexpr char ascii_upper(char c) {
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - ('a' - 'A')) : c;
}
// The value 0 to 15 of a hexadecimal digit in either case; -1 for other characters.
constexpr int hex_value(char c) {
  if (is_ascii_digit(c)) return c - '0';
  const char small = ascii_lower(c);
  return small >= 'a' && small <= 'f' ? small - 'a' + 10 : -1;
}

// Hexadecimal digits in lower case, two per byte.
inline std::string to_hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  out.reserve(2 * bytes.size());
  for (const char c : bytes) {
    out += kDigits[static_cast<unsigned char>(c) >> 4];
    out += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return out;
}
// The escape of a byte in an address: "%2F".
inline std::string percent_escape(char c) {
  std::string out = "%" + to_hex({&c, 1});
  std::ranges::transform(out, out.begin(), [](char digit) { return ascii_upper(digit); });
  return out;
}
inline std::string ascii_lowered(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](char c) { return ascii_lower(c); });
  return out;
}
inline bool same_but_for_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) { return ascii_lower(x) == ascii_lower(y); });
}

// The number that `text` spells; nothing if it is not a number or T cannot hold it.
template <typename T>
std::optional<T> parse_number(std::string_view text) {
  T number{};
  const char* const end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, number);
  return failure == std::errc() && stop == end ? std::optional(number) : std::nullopt;
}
// `text` without `spaces` at its ends.
constexpr std::string_view trimmed(std::string_view text, std::string_view spaces = " \t\r\n") {
  const std::size_t begin = std::min(text.find_first_not_of(spaces), text.size());
  return text.substr(begin, text.find_last_not_of(spaces) + 1 - begin);
}
// Removes `spaces` from the front of `rest`.
constexpr void skip_spaces(std::string_view& rest, std::string_view spaces) {
  rest.remove_prefix(std::min(rest.find_first_not_of(spaces), rest.size()));
}
// Removes the part before the first of `ends` from the front of `rest`, with that character, and
// returns the part.
constexpr std::string_view take_until(std::string_view& rest, std::string_view ends) {
  const std::string_view part = rest.substr(0, rest.find_first_of(ends));
  rest.remove_prefix(std::min(part.size() + 1, rest.size()));
  return part;
}

}  // namespace kin
