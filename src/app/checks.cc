#include "app/checks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

namespace kin::app {
namespace {

template <typename T>
bool within(const std::string& text, T least, T most) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, value);
  return failure == std::errc() && stop == end && value >= least && value <= most;
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
    return fmt::format("\"{}\" is none of {}", text, fmt::join(words, ", "));
  };
}

}  // namespace kin::app
