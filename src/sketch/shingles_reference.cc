#include "sketch/shingles_reference.h"

#include <algorithm>

#include "sketch/word_hash.h"
#include "text/reference.h"

namespace kin::sketch {
namespace {

std::vector<std::uint64_t> word_hashes(std::string_view utf8, text::Normalization preset) {
  std::vector<std::uint64_t> hashes;
  for (const std::string& word : text::words_reference(utf8, preset)) {
    hashes.push_back(hash_word(word));
  }
  return hashes;
}

std::vector<std::uint64_t> character_hashes(std::string_view utf8, text::Normalization preset) {
  if (text::words_reference(utf8, preset).empty()) return {};
  std::vector<char32_t> characters;
  for (const char byte : text::normalize_reference(utf8, preset)) {
    const auto value = static_cast<std::uint8_t>(byte);
    if ((value & 0xC0) == 0x80) {
      characters.back() = characters.back() << 6 | (value & 0x3F);
    } else {
      const int payload = value < 0x80 ? 0x7F : value < 0xE0 ? 0x1F : value < 0xF0 ? 0x0F : 0x07;
      characters.push_back(static_cast<char32_t>(value & payload));
    }
  }
  std::vector<std::uint64_t> hashes(characters.size());
  std::transform(characters.begin(), characters.end(), hashes.begin(), hash_character);
  return hashes;
}

}  // namespace

std::vector<std::uint64_t> shingles_reference(std::string_view valid_utf8,
                                              const ShingleOptions& options) {
  const bool words = options.unit == ShingleOptions::Unit::kWord;
  const std::vector<std::uint64_t> units =
      words ? word_hashes(valid_utf8, options.normalization)
            : character_hashes(valid_utf8, options.normalization);
  const std::size_t size = std::min<std::size_t>(options.size, units.size());
  std::vector<std::uint64_t> shingles;
  for (std::size_t first = 0; size != 0 && first + size <= units.size(); ++first) {
    // A polynomial of the unit hashes, as word_hash.h defines it.
    std::uint64_t hash = 0;
    for (std::size_t i = first; i < first + size; ++i) hash = hash * kShingleMultiplier + units[i];
    shingles.push_back(hash);
  }
  return shingles;
}

}  // namespace kin::sketch
