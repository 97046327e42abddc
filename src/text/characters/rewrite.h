// The walk over a text that normalising and spacing share.
#pragma once

#include <string>
#include <string_view>

#include "text/characters/character_table.h"
#include "text/characters/utf8.h"

namespace kin::text {

// The most bytes a character grows by in lower case: U+023A has two, its lower case three.
constexpr std::size_t lowered_bound(std::size_t bytes) {
  return bytes + bytes / 2 + 4;
}

// Hands the text to `sink` in order: runs of ASCII as they are, other characters as their entry of
// the table. False, midway, if kMayChange and the text has to be composed (or decomposed) first:
// either a character that may change is met, or marks out of canonical order. Nothing can change in
// a text that composed() returned.
template <bool kMayChange, typename Sink>
bool rewrite(std::string_view utf8, const CharacterTable& table, Sink& sink) {
  const char* at = utf8.data();
  const char* const end = at + utf8.size();
  const bool ordered = table.preset() != Normalization::kNone;
  while (at != end) {
    const char* const run = at;
    at = skip_ascii(at, end);
    if (at != run) sink.ascii(run, at);
    std::uint8_t last_class = 0;
    while (at != end && !is_ascii(*at)) {
      const Decoded decoded = decode_multibyte(at, end);
      const Character& character = table[decoded.character];
      if constexpr (kMayChange) {
        const bool out_of_order =
            character.combining_class != 0 && character.combining_class < last_class;
        if (character.unstable || (out_of_order && ordered)) return false;
        last_class = character.combining_class;
      }
      sink.character(character);
      at += decoded.length;
    }
  }
  return true;
}

// Calls word(begin, end, unit) for each word of `utf8`, in order, as table.preset() splits it.
// `unit` says that it is one character of a script without spaces.
template <typename Word>
void for_each_word(std::string_view utf8, const CharacterTable& table, const Word& word) {
  const char* begin = nullptr;  // of the open word, if there is one
  bool unit = false;
  const auto finish = [&](const char* at) {
    if (begin != nullptr) word(begin, at, unit);
    begin = nullptr;
    unit = false;
  };
  const char* at = utf8.data();
  const char* const end = at + utf8.size();
  while (at != end) {
    const Decoded decoded = decode(at, end);
    const CharacterKind kind = table[decoded.character].kind;
    // A unit is a word by itself, so whatever follows it begins another one; marks belong to it.
    const bool starts = kind == CharacterKind::kUnit || (kind == CharacterKind::kWord && unit);
    if (kind == CharacterKind::kSeparator || starts) finish(at);
    if (kind != CharacterKind::kSeparator) {
      if (begin == nullptr) begin = at;
      unit |= kind == CharacterKind::kUnit;
    }
    at += decoded.length;
  }
  finish(end);
}

// `utf8` in the preset's normal form and case, with separators and dropped characters still there.
std::string composed(std::string_view utf8, const CharacterTable& table);

}  // namespace kin::text
