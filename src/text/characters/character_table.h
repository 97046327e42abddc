// A cache of each character's properties in ICU under each preset.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

#include "text/normalize.h"

namespace kin::text {

enum class CharacterKind : std::uint8_t {
  kSeparator,  // ends a word; a space in a normalised text
  kWord,       // belongs to a word
  kMark,       // belongs to the character before it
  kUnit,       // of a script without spaces: a word by itself
  kDropped,    // left out by kAggressive
};

struct Character {
  std::array<char, 4> bytes;  // UTF-8, in lower case if the preset asks for it; a separator's: ' '
  std::uint8_t length;        // of `bytes`
  CharacterKind kind;
  std::uint8_t combining_class;
  bool unstable;  // it, or its lower case, may change when the text is composed or decomposed
};

// A letter or number of a script that is written without spaces between words.
bool is_unspaced(char32_t character);

// Thread-safe. Blocks of 256 characters are filled on first use, so a run pays only for the scripts
// it meets.
class CharacterTable {
 public:
  static const CharacterTable& of(Normalization preset);

  explicit CharacterTable(Normalization preset) : preset_(preset) {}
  ~CharacterTable();
  CharacterTable(const CharacterTable&) = delete;
  CharacterTable& operator=(const CharacterTable&) = delete;

  Normalization preset() const { return preset_; }

  const Character& operator[](char32_t character) const {
    const Block* block = blocks_[character >> kBlockBits].load(std::memory_order_acquire);
    if (block == nullptr) [[unlikely]]
      block = fill(character >> kBlockBits);
    return (*block)[character & (kBlockSize - 1)];
  }

 private:
  static constexpr int kBlockBits = 8;
  static constexpr std::size_t kBlockSize = std::size_t{1} << kBlockBits;
  static constexpr std::size_t kBlocks = 0x110000 >> kBlockBits;
  using Block = std::array<Character, kBlockSize>;

  const Block* fill(std::size_t number) const;

  Normalization preset_;
  mutable std::array<std::atomic<const Block*>, kBlocks> blocks_{};
};

}  // namespace kin::text
