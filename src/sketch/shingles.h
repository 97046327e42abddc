// Shingles: the overlapping runs of words or characters by which two texts are compared.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/byte_buffer.h"
#include "base/result.h"
#include "text/normalize.h"
#include "text/words.h"

namespace kin::sketch {

struct ShingleOptions {
  enum class Unit : std::uint8_t { kWord, kChar };
  Unit unit = Unit::kWord;
  std::uint32_t size = 5;  // units a shingle, 1 to kMaxShingle
  text::Normalization normalization = text::Normalization::kStandard;
  friend bool operator==(const ShingleOptions&, const ShingleOptions&) = default;
};

inline constexpr std::uint32_t kMaxShingle = 256;

// Parses "word:5" or "char:3".
Result<ShingleOptions> parse_shingle(std::string_view text, text::Normalization normalization);
std::string to_string(const ShingleOptions& options);

// Turns texts into shingle hashes (word_hash.h says which). One thread only: it owns the scratch
// memory, so that a call allocates nothing once it has seen a text of that size, unless the text
// has to be composed.
class Shingler {
 public:
  explicit Shingler(ShingleOptions options);

  const ShingleOptions& options() const { return options_; }

  // The hashes of the shingles of the normalised text in order, repeats included; valid until the
  // next call. Word shingles are made of its words (text/words.h), character shingles of its code
  // points, spaces included. A text without words has none; a text shorter than a shingle has one,
  // made of the whole text.
  std::span<const std::uint64_t> shingles(std::string_view valid_utf8);

 private:
  std::size_t hash_words(std::string_view utf8);
  std::size_t hash_characters(std::string_view utf8);
  void reserve_hashes(std::size_t count);

  ShingleOptions options_;
  text::WordSpacer spacer_;
  ByteBuffer lowered_;      // words
  std::string normalized_;  // for characters
  ByteBuffer hash_bytes_;   // of words or characters, then of shingles
  std::span<std::uint64_t> hashes_;
};

}  // namespace kin::sketch
