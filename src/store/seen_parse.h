// Parses ids from text.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>

#include "store/seen_set.h"

namespace kin::store {

// The id of `text` in `set`. Nothing if the set holds numbers and `text` is not a whole number from
// 0 to 2^64 - 1, written in digits only. Thread-safe.
inline std::optional<SeenId> parse_seen_id(const SeenSet& set, std::string_view text) {
  if (set.kind() == IdKind::kText) return set.id_of(text);
  std::uint64_t number = 0;
  const char* begin = text.data();
  const char* end = begin + text.size();
  const auto [stop, failure] = std::from_chars(begin, end, number);
  if (failure != std::errc() || stop != end) return {};
  return SeenId::number(number);
}

}  // namespace kin::store
