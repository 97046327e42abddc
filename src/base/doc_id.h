// The 128-bit id of a document, made from a key of any kind.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"

namespace kin {

// Ordered as its bytes are, so UUIDs and ULIDs keep their order.
struct DocId {
  std::array<std::uint8_t, 16> bytes{};
  friend auto operator<=>(const DocId&, const DocId&) = default;
  std::string_view view() const {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
};

// The id of the document that `source` knows as `key`. A UUID (8-4-4-4-12 hexadecimal digits, in
// either case) and a ULID (26 characters of Crockford's alphabet, upper case, at most 128 bits) are
// taken as they are, whatever the source; every other key is hashed together with its source.
// Thread-safe, and the same for ever.
DocId doc_id_of(std::string_view source, std::string_view key);

std::optional<DocId> parse_uuid(std::string_view text);
std::optional<DocId> parse_ulid(std::string_view text);
// As a UUID is written, in lower case: parse_uuid() gives it back.
std::string to_string(const DocId& id);

}  // namespace kin

template <>
struct std::hash<kin::DocId> {
  std::size_t operator()(const kin::DocId& id) const noexcept {
    // Ids are hashes or random in their second half; the first half of a ULID is a clock.
    return static_cast<std::size_t>(kin::load_le<std::uint64_t>(id.bytes.data() + 8) ^
                                    kin::load_le<std::uint64_t>(id.bytes.data()) *
                                        0x9E3779B97F4A7C15ULL);
  }
};
