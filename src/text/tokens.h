// The words of a text as search sees them: where they stand, and in which form they are compared.
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

// Replaces `tokens` by the words of `utf8`, in order: those of words.h, preset kStandard, but of
// the text as it is. Reads no more than 4 GiB of it.
void split_tokens(std::string_view utf8, std::vector<Token>& tokens);

// Two characters of a script without spaces with nothing between them: together they are a word,
// too.
inline bool adjoin(const Token& left, const Token& right) {
  return left.unit && right.unit && left.end == right.begin;
}

// What is longer than 255 bytes is no word: its beginning, up to a whole character, stands for it.
// A dictionary of whole files helps nobody.
std::string_view cut_word(std::string_view word);

// Replaces `folded` by the form of `word` that is compared: NFKC and case folded.
void fold_word(std::string_view word, std::string& folded);

}  // namespace kin::text
