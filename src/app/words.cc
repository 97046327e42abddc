#include "app/words.h"

#include <fmt/format.h>

#include <array>

namespace kin::app {

std::string with_commas(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<std::size_t>(at), ",");
  }
  return digits;
}

std::string short_count(std::uint64_t number) {
  constexpr std::array<const char*, 4> kUnits{"", " k", " M", " G"};
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

}  // namespace kin::app
