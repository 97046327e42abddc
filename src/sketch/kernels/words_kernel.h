// The vectorised inner loops of Shingler. Each picks the best instruction set at run time, and all
// give the same values. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace kin::sketch {

enum class WordRule : std::uint8_t {
  kAlphanumeric,  // words are of ASCII letters (lowered), digits and bytes >= 0x80
  kNotSpace,      // words are of everything but ASCII white space
};

// Bytes scanned at a time: the positions found in one piece stay in the first-level cache.
inline constexpr std::size_t kPiece = 2048;

// Room that must follow the bytes of `lowered`, and the `hashes`, for whole vectors.
inline constexpr std::size_t kPadding = 64;

// A text on its way through scan_piece.
struct WordScan {
  const char* text;
  std::size_t size;
  char* lowered;  // size + kPadding bytes; what has been scanned is in it, in lower case
  WordRule rule = WordRule::kAlphanumeric;
  std::size_t at = 0;    // scanned so far: a multiple of kPiece, or size
  bool in_word = false;  // the word that begins at `word` goes on at `at`
  std::size_t word = 0;
};

// Scans the next piece, writes the hashes of the words that end in it to `hashes` (with room for
// kPiece / 2 + 1 of them) and returns how many there are.
std::size_t scan_piece(WordScan& scan, std::uint64_t* hashes);

// Replaces the unit hashes by the hashes of their shingles, `size` (1 to the number of units) each,
// and returns how many there are. kPadding / 8 more hashes behind the units are read and written.
std::size_t fold_shingles(std::span<std::uint64_t> units, std::size_t size);

}  // namespace kin::sketch
