// Keys under which a ledger lists its entries by source or run, in the order of time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "store/ledger.h"

namespace kin::store {

inline void append_big_endian(std::string& out, std::uint64_t value, std::size_t bytes) {
  for (std::size_t i = bytes; i-- > 0;) out += static_cast<char>(value >> (8 * i));
}

// Names have any length, so the length comes first: "a" is not a prefix of "ab".
inline std::string list_prefix(std::string_view name) {
  std::string key;
  append_big_endian(key, name.size(), 4);
  return key.append(name);
}
// The rest of a key after the prefix: time and document.
inline std::string list_place(const LedgerEntry& entry) {
  std::string place;
  append_big_endian(place, static_cast<std::uint64_t>(entry.at.time_since_epoch().count()), 8);
  return place.append(entry.doc.view());
}
inline constexpr std::size_t kListPlaceBytes = 8 + sizeof(DocId);

}  // namespace kin::store
