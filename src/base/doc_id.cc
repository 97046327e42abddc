#include "base/doc_id.h"

#include "base/ascii.h"
#include "base/hash.h"

namespace kin {
namespace {

// "kin-doci" in ASCII. Ids are kept in stores, so it never changes.
constexpr std::uint64_t kKeySeed = 0x6b696e2d646f6369ULL;
// Without I, L, O and U, which people mistake for other characters.
constexpr std::string_view kCrockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

constexpr std::size_t kDashes[] = {8, 13, 18, 23};
bool has_dash(std::size_t place) {
  return std::ranges::find(kDashes, place) != std::end(kDashes);
}

}  // namespace

std::optional<DocId> parse_uuid(std::string_view text) {
  if (text.size() != 36) return {};
  DocId id;
  std::size_t digits = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (has_dash(i)) {
      if (text[i] != '-') return {};
      continue;
    }
    const int digit = hex_value(text[i]);
    if (digit < 0) return {};
    std::uint8_t& byte = id.bytes[digits++ / 2];
    byte = static_cast<std::uint8_t>(byte << 4 | digit);
  }
  return id;
}

std::optional<DocId> parse_ulid(std::string_view text) {
  // 26 characters of 5 bits have room for 130 bits. The first one may only use 3 of its 5.
  if (text.size() != 26 || text[0] > '7') return {};
  __extension__ unsigned __int128 number = 0;
  for (const char c : text) {
    const std::size_t digit = kCrockford.find(c);
    if (digit == std::string_view::npos) return {};
    number = number << 5 | digit;
  }
  // A ULID is written with the most significant character first, and its bytes have to sort as it
  // does.
  DocId id;
  for (std::size_t i = id.bytes.size(); i-- > 0; number >>= 8)
    id.bytes[i] = static_cast<std::uint8_t>(number);
  return id;
}

DocId doc_id_of(std::string_view source, std::string_view key) {
  if (const auto uuid = parse_uuid(key)) return *uuid;
  if (const auto ulid = parse_ulid(key)) return *ulid;
  // The length keeps ("ab", "c") apart from ("a", "bc").
  std::string bytes;
  append_le(bytes, static_cast<std::uint64_t>(source.size()));
  bytes.append(source).append(key);
  // The order of the halves is part of the id, like the seed.
  const Hash128 hash = hash128(bytes, kKeySeed);
  DocId id;
  store_le(id.bytes.data(), hash.high);
  store_le(id.bytes.data() + 8, hash.low);
  return id;
}

std::string to_string(const DocId& id) {
  std::string text = to_hex(id.view());
  for (const std::size_t place : kDashes) text.insert(place, 1, '-');
  return text;
}

}  // namespace kin
