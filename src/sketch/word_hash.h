// The fixed hashes that shingles are made of. They are on disk in every store and index: a change
// of any value is a new kShingleVersion.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/bytes.h"
#include "base/hash.h"

namespace kin::sketch {

inline constexpr int kShingleVersion = 1;

// A shingle of the hashes h1..hn is h1 * m^(n-1) + ... + hn modulo 2^64. As m is 5 modulo 8, a run
// of n equal hashes keeps all but log2(n) of its bits.
inline constexpr std::uint64_t kShingleMultiplier = 0x9E3779B97F4A7C15ULL;

// Each holds a byte sequence that no UTF-8 text has, so that no word makes a factor zero.
inline constexpr std::array<std::uint64_t, 4> kWordKeys{
    0xFF51AFD7ED558CCDULL, 0x9FB21C651E98DF25ULL, 0xFFA0761D6478BD65ULL, 0xE7037ED1A0B428DBULL};

// Words up to this many bytes are hashed without a loop.
inline constexpr std::size_t kShortWord = 15;

// Masks for the first n of 16 bytes, as two little-endian halves.
inline constexpr auto kByteMasks = [] {
  std::array<std::array<std::uint64_t, 2>, 16> masks{};
  for (std::size_t n = 1; n < 16; ++n) {
    const auto ones = [](std::size_t bytes) { return ~std::uint64_t{0} >> (64 - 8 * bytes); };
    masks[n] = {ones(n < 8 ? n : 8), n > 8 ? ones(n - 8) : 0};
  }
  return masks;
}();

// The two halves of the 128-bit product, folded.
inline std::uint64_t fold_multiply(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

// The hash of a word, from its last n < 16 bytes (zero-extended to two halves), the state after the
// bytes before them, and its length.
inline std::uint64_t finish_word(std::uint64_t low, std::uint64_t high, std::uint64_t state,
                                 std::size_t length) {
  const std::uint64_t length_byte = static_cast<std::uint64_t>(length) << 56;
  return fold_multiply(low ^ kWordKeys[0] ^ state, high ^ kWordKeys[1] ^ length_byte);
}

inline std::uint64_t hash_word(std::string_view word) {
  std::uint64_t state = 0;
  const std::size_t length = word.size();
  for (; word.size() > kShortWord; word.remove_prefix(16)) {
    state = fold_multiply(load_le<std::uint64_t>(word.data()) ^ kWordKeys[2] ^ state,
                          load_le<std::uint64_t>(word.data() + 8) ^ kWordKeys[3]);
  }
  std::array<std::uint64_t, 2> tail{};
  std::memcpy(tail.data(), word.data(), word.size());
  return finish_word(tail[0], tail[1], state, length);
}

constexpr std::uint64_t hash_character(char32_t character) {
  return mix64(static_cast<std::uint64_t>(character) ^ kWordKeys[0]);
}

}  // namespace kin::sketch
