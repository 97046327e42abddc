#include "text/bert_words.h"

#include <unicode/normalizer2.h>
#include <unicode/uchar.h>

#include "base/ascii.h"
#include "base/check.h"
#include "base/utf8.h"
#include "text/characters/utf8.h"

namespace kin::text {
namespace {

const icu::Normalizer2& decomposition() {
  UErrorCode status = U_ZERO_ERROR;
  const icu::Normalizer2* found = icu::Normalizer2::getNFDInstance(status);
  KIN_CHECK(U_SUCCESS(status), "ICU carries the data of its normal forms");
  return *found;
}

UChar32 code(char32_t character) {
  return static_cast<UChar32>(character);
}

bool is_space(char32_t c) {
  // ASCII is decided without ICU, here and below: most texts are ASCII.
  return c == U' ' || (c >= U'\t' && c <= U'\r') || (c >= 0x80 && u_isUWhiteSpace(code(c)));
}

// Tabs and line ends are white space before they are controls.
bool is_control(char32_t c) {
  if (c < 0x80) return c < 0x20 || c == 0x7F;
  return c == 0xFFFD || (U_GET_GC_MASK(code(c)) & U_GC_C_MASK) != 0;
}

bool is_punctuation(char32_t c) {
  if (c < 0x80)
    return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') ||
           (c >= '{' && c <= '~');
  return (U_GET_GC_MASK(code(c)) & U_GC_P_MASK) != 0;
}

// The blocks that BERT takes for Chinese.
bool is_han(char32_t c) {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) ||
         (c >= 0x20000 && c <= 0x2A6DF) || (c >= 0x2A700 && c <= 0x2B73F) ||
         (c >= 0x2B740 && c <= 0x2B81F) || (c >= 0x2B920 && c <= 0x2CEAF) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

}  // namespace

void BertWords::append(char32_t character) {
  // u_tolower() gives ASCII too, but looks each character up.
  if (options_.lower_case && character < 0x80) {
    character = static_cast<char32_t>(ascii_lower(static_cast<char>(character)));
  } else if (options_.lower_case) {
    character = static_cast<char32_t>(u_tolower(code(character)));
  }
  append_utf8(normal_, character);
}

void BertWords::finish() {
  // Two ends in a row would make an empty word.
  if (normal_.size() > (ends_.empty() ? 0 : ends_.back())) ends_.push_back(normal_.size());
}

void BertWords::alone(char32_t character) {
  finish();
  append(character);
  finish();
}

void BertWords::take_decomposed(char32_t character) {
  // Decomposed accents are marks of their own. None is below U+0080.
  if (character >= 0x80 && options_.strip_accents &&
      u_charType(code(character)) == U_NON_SPACING_MARK)
    return;
  if (is_punctuation(character) || (options_.split_han && is_han(character)))
    return alone(character);
  append(character);
}

void BertWords::take(char32_t character) {
  if (is_space(character)) return finish();
  if (options_.clean_text && is_control(character)) return;
  if (character < 0x80 || !options_.strip_accents) return take_decomposed(character);
  icu::UnicodeString parts;
  // Most characters have no decomposition.
  if (!decomposition().getDecomposition(code(character), parts)) return take_decomposed(character);
  for (std::int32_t i = 0; i < parts.length(); i = parts.moveIndex32(i, 1))
    take_decomposed(static_cast<char32_t>(parts.char32At(i)));
}

const std::vector<std::string_view>& BertWords::split(std::string_view utf8) {
  normal_.clear();
  ends_.clear();
  words_.clear();
  const char* const end = utf8.data() + utf8.size();
  for (const char* at = utf8.data(); at != end;) {
    const Decoded decoded = decode(at, end);
    take(decoded.character);
    at += decoded.length;
  }
  finish();
  // Views are made last: normal_ moves while it grows.
  std::size_t begin = 0;
  for (const std::size_t word_end : ends_) {
    words_.push_back(std::string_view(normal_).substr(begin, word_end - begin));
    begin = word_end;
  }
  return words_;
}

}  // namespace kin::text
