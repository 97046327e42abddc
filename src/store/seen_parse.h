// Parses ids from text.
#pragma once

#include <optional>
#include <string_view>

#include "base/ascii.h"
#include "store/seen_set.h"

namespace kin::store {

// The id of `text` in `set`. Nothing if the set holds numbers and `text` is not a whole number from
// 0 to 2^64 - 1, written in digits only. Thread-safe.
inline std::optional<SeenId> parse_seen_id(const SeenSet& set, std::string_view text) {
  if (set.kind() == IdKind::kText) return set.id_of(text);
  const auto number = parse_number<std::uint64_t>(text);
  return number ? std::optional(SeenId::number(*number)) : std::nullopt;
}

}  // namespace kin::store
