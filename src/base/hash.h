// The hashes that outlive a process. All are XXH3 (stable since xxHash 0.8): the same bytes and
// seed give the same value on every machine, for ever.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/bytes.h"

namespace kin {

struct Hash128 {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  friend auto operator<=>(const Hash128&, const Hash128&) = default;
};

Hash128 hash128(std::string_view bytes, std::uint64_t seed = 0);
std::uint64_t hash64(std::string_view bytes, std::uint64_t seed = 0);

// The checksum of every on-disk format.
inline std::uint64_t checksum(std::string_view bytes) {
  return hash64(bytes, 0x6b696e64726564ULL);
}
// `bytes` without the checksum of 8 bytes at its end. Nothing if it is too short or the checksum is
// wrong.
inline std::optional<std::string_view> checked_body(std::string_view bytes) {
  if (bytes.size() < sizeof(std::uint64_t)) return std::nullopt;
  const std::string_view body = bytes.substr(0, bytes.size() - sizeof(std::uint64_t));
  if (load_le<std::uint64_t>(body.data() + body.size()) != checksum(body)) return std::nullopt;
  return body;
}

// A bijection that spreads every input bit over the whole word (the finaliser of MurmurHash3).
constexpr std::uint64_t mix64(std::uint64_t x) {
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdULL;
  x ^= x >> 33;
  x *= 0xc4ceb9fe1a85ec53ULL;
  return x ^ (x >> 33);
}

// Its inverse: unmix64(mix64(x)) == x.
constexpr std::uint64_t unmix64(std::uint64_t x) {
  x ^= x >> 33;
  x *= 0x9cb4b2f8129337dbULL;
  x ^= x >> 33;
  x *= 0x4f74430c22a54005ULL;
  return x ^ (x >> 33);
}
static_assert(unmix64(mix64(0x0123456789abcdefULL)) == 0x0123456789abcdefULL);

}  // namespace kin
