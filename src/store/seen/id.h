// An id as the seen set keeps it.
#pragma once

#include <compare>
#include <cstdint>
#include <string_view>

#include "base/hash.h"

namespace kin::store {

// The kind of ids in a set. Fixed when the set is made.
enum class IdKind : std::uint8_t {
  kNumber = 1,  // unsigned 64-bit numbers, kept exactly
  kText = 2,    // strings, kept as a 128-bit hash: two of a billion collide once in 10^21 sets
};

// A number, spread over the whole range by a bijection (so that neighbours are far apart and the
// number can be recovered), or the hash of a string with the set's own seed. Made by number() and
// text(); ordered by `high`, then `low`.
struct SeenId {
  std::uint64_t high = 0;
  std::uint64_t low = 0;  // 0 for numbers

  static SeenId number(std::uint64_t id) { return {mix64(id), 0}; }
  // The number that the id was made from.
  std::uint64_t number() const { return unmix64(high); }

  static SeenId text(std::string_view id, std::uint64_t seed) {
    const Hash128 hash = hash128(id, seed);
    return {hash.high == 0 ? 1 : hash.high, hash.low};  // only a number may be 0
  }

  friend auto operator<=>(const SeenId&, const SeenId&) = default;
};

}  // namespace kin::store
