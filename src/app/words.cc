#include "app/words.h"

#include <fmt/format.h>

#include <array>

namespace kin::app {

std::string with_commas(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<std::size_t>(at), 1, ',');
  return digits;
}

std::string counted(std::uint64_t count, std::string_view one) {
  return fmt::format("{} {}{}", with_commas(count), one, count == 1 ? "" : "s");
}

std::string short_count(std::uint64_t number) {
  constexpr std::array<const char*, 4> kUnits{"", " k", " M", " G"};
  // Four digits are as short as a rounded number.
  if (number < 10'000) return with_commas(number);
  auto amount = static_cast<double>(number);
  std::size_t unit = 0;
  for (; amount >= 1000 && unit + 1 < kUnits.size(); ++unit) amount /= 1000;
  return fmt::format("{:.3g}{}", amount, kUnits[unit]);
}

std::string short_duration(double seconds) {
  const auto whole = static_cast<std::uint64_t>(seconds + 0.5);
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string harmless(std::string_view text) {
  std::string clean;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0;
    // U+0080 to U+009F, some of which begin an escape sequence like ESC [ does, are C2 80 to C2 9F.
    const bool two_bytes = byte == 0xC2 && next >= 0x80 && next < 0xA0;
    clean += byte < 0x20 || byte == 0x7F || two_bytes ? ' ' : text[i];
    i += two_bytes ? 1 : 0;
  }
  return clean;
}

void add_row(std::string& table, std::string_view name, std::string_view value) {
  table += fmt::format("  {:<14}{}\n", name, value);
}

}  // namespace kin::app
