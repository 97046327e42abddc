#include "text/tokens.h"

#include <unicode/bytestream.h>
#include <unicode/normalizer2.h>
#include <unicode/stringpiece.h>

#include <algorithm>
#include <limits>

#include "base/ascii.h"
#include "text/characters/character_table.h"
#include "text/characters/utf8.h"

namespace kin::text {
namespace {

class TokenCollector {
 public:
  explicit TokenCollector(std::vector<Token>& tokens) : tokens_(tokens) {}

  void take(std::uint32_t at, CharacterKind kind) {
    const bool starts = kind == CharacterKind::kUnit || (kind == CharacterKind::kWord && unit_);
    if (kind == CharacterKind::kSeparator || starts) finish(at);
    if (kind == CharacterKind::kSeparator) return;
    if (!open_) begin_ = at;
    open_ = true;
    if (kind == CharacterKind::kUnit) unit_ = true;
  }

  void finish(std::uint32_t at) {
    if (open_) tokens_.push_back({.begin = begin_, .end = at, .unit = unit_});
    open_ = false;
    unit_ = false;
  }

 private:
  std::vector<Token>& tokens_;
  std::uint32_t begin_ = 0;
  bool open_ = false;
  bool unit_ = false;
};

const icu::Normalizer2& folding() {
  UErrorCode status = U_ZERO_ERROR;
  const icu::Normalizer2* found = icu::Normalizer2::getNFKCCasefoldInstance(status);
  KIN_CHECK(U_SUCCESS(status), "ICU carries the data of its normal forms");
  return *found;
}

}  // namespace

void split_tokens(std::string_view utf8, std::vector<Token>& tokens) {
  tokens.clear();
  utf8 = utf8.substr(0, std::numeric_limits<std::uint32_t>::max());
  const CharacterTable& table = CharacterTable::of(Normalization::kStandard);
  TokenCollector collector(tokens);
  const char* const begin = utf8.data();
  const char* const end = begin + utf8.size();
  for (const char* at = begin; at != end;) {
    const Decoded decoded =
        is_ascii(*at) ? Decoded{static_cast<char32_t>(*at), 1} : decode_multibyte(at, end);
    collector.take(static_cast<std::uint32_t>(at - begin), table[decoded.character].kind);
    at += decoded.length;
  }
  collector.finish(static_cast<std::uint32_t>(utf8.size()));
}

std::string_view cut_word(std::string_view word) {
  constexpr std::size_t kLongestWord = 255;
  if (word.size() <= kLongestWord) return word;
  std::size_t end = kLongestWord;
  while (end > 0 && (static_cast<unsigned char>(word[end]) & 0xC0) == 0x80) --end;
  return word.substr(0, end);
}

void fold_word(std::string_view word, std::string& folded) {
  folded.clear();
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
