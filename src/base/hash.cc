#include "base/hash.h"

// Compiles the hash into this file: no library to link, and calls for short inputs are inlined.
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace kin {

Hash128 hash128(std::string_view bytes, std::uint64_t seed) {
  const XXH128_hash_t hash = XXH3_128bits_withSeed(bytes.data(), bytes.size(), seed);
  return {hash.low64, hash.high64};
}

std::uint64_t hash64(std::string_view bytes, std::uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

}  // namespace kin
