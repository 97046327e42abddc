#include "text/tokens.h"

#include <unicode/bytestream.h>
#include <unicode/normalizer2.h>
#include <unicode/stringpiece.h>

#include <algorithm>
#include <limits>

#include "base/ascii.h"
#include "base/check.h"
#include "base/utf8.h"
#include "text/characters/rewrite.h"

namespace kin::text {
namespace {

const icu::Normalizer2& folding() {
  UErrorCode status = U_ZERO_ERROR;
  const icu::Normalizer2* found = icu::Normalizer2::getNFKCCasefoldInstance(status);
  KIN_CHECK(U_SUCCESS(status), "ICU carries the data of its normal forms");
  return *found;
}

}  // namespace

void split_tokens(std::string_view utf8, std::vector<Token>& tokens) {
  tokens.clear();
  // Token has 32-bit offsets.
  utf8 = utf8.substr(0, std::numeric_limits<std::uint32_t>::max());
  const CharacterTable& table = CharacterTable::of(Normalization::kStandard);
  for_each_word(utf8, table, [&](const char* begin, const char* end, bool unit) {
    tokens.push_back({.begin = static_cast<std::uint32_t>(begin - utf8.data()),
                      .end = static_cast<std::uint32_t>(end - utf8.data()),
                      .unit = unit});
  });
}

std::string_view cut_word(std::string_view word) {
  constexpr std::size_t kLongestWord = 255;
  if (word.size() <= kLongestWord) return word;
  return word.substr(0, character_start(word, kLongestWord));
}

void fold_word(std::string_view word, std::string& folded) {
  folded.clear();
  // Case folding of ASCII is lowering. ICU takes many times as long, and most words are ASCII.
  if (std::ranges::all_of(word, is_ascii)) {
    for (const char c : word) folded += ascii_lower(c);
    return;
  }
  // ICU counts in 32 bits.
  word = word.substr(0, std::size_t{1} << 24);
  icu::StringByteSink<std::string> sink(&folded);
  UErrorCode status = U_ZERO_ERROR;
  folding().normalizeUTF8(0, icu::StringPiece(word.data(), static_cast<std::int32_t>(word.size())),
                          sink, nullptr, status);
  KIN_CHECK(U_SUCCESS(status), "normalising fails only for want of memory");
}

}  // namespace kin::text
