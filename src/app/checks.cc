#include "app/checks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "app/options.h"
#include "base/ascii.h"

namespace kin::app {
namespace {

template <typename T>
bool within(const std::string& text, T least, T most) {
  const auto value = parse_number<T>(text);
  return value && *value >= least && *value <= most;
}

}  // namespace

Check whole_number(std::uint64_t least, std::uint64_t most) {
  return [=](const std::string& text) -> std::string {
    if (within(text, least, most)) return {};
    if (most == std::numeric_limits<std::uint64_t>::max())
      return fmt::format("\"{}\" is not a whole number from {} on", text, least);
    return fmt::format("\"{}\" is not a whole number from {} to {}", text, least, most);
  };
}

Check number(double least, double most) {
  return [=](const std::string& text) -> std::string {
    if (within(text, least, most)) return {};
    return fmt::format("\"{}\" is not a number from {} to {}", text, least, most);
  };
}

Check one_of(std::vector<std::string> words) {
  return [words = std::move(words)](const std::string& text) -> std::string {
    if (std::find(words.begin(), words.end(), text) != words.end()) return {};
    return fmt::format("\"{}\" is not one of {}", text, fmt::join(words, ", "));
  };
}

Option with_count(Option option, std::uint64_t least, std::uint64_t most) {
  return option.type_name("N").check(whole_number(least, most)).capture_default_str();
}

Option with_choice(Option option, std::vector<std::string> words) {
  option.type_name(fmt::format("{}", fmt::join(words, "|")));
  return option.check(one_of(std::move(words))).capture_default_str();
}

}  // namespace kin::app
