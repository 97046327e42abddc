// The words of a text for search: their positions, and the form in which they are compared.
// All functions are thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kin::text {

struct Token {
  std::uint32_t begin = 0;  // bytes of the text
  std::uint32_t end = 0;
  bool unit = false;  // one character of a script without spaces
};

// Replaces `tokens` by the words of `utf8`, in order. They are those of words.h with the preset
// kStandard, without normalising the text. Reads at most 4 GiB.
void split_tokens(std::string_view utf8, std::vector<Token>& tokens);

// Whether two words are adjacent characters of a script without spaces, which together count as a
// word too.
inline bool adjoin(const Token& left, const Token& right) {
  return left.unit && right.unit && left.end == right.begin;
}

// Cuts a word to at most 255 bytes, at the end of a character, so that long runs without spaces do
// not fill the dictionary.
std::string_view cut_word(std::string_view word);

// Replaces `folded` by the form of `word` that is compared: NFKC and case folded.
void fold_word(std::string_view word, std::string& folded);

}  // namespace kin::text
