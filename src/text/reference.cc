#include "text/reference.h"

#include <unicode/normalizer2.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>

#include "text/characters/character_table.h"
#include "text/prepare.h"

namespace kin::text {
namespace {

icu::UnicodeString normal_form(const icu::UnicodeString& from, Normalization preset) {
  UErrorCode status = U_ZERO_ERROR;
  const icu::Normalizer2* form = preset == Normalization::kAggressive
                                     ? icu::Normalizer2::getNFKDInstance(status)
                                     : icu::Normalizer2::getNFCInstance(status);
  icu::UnicodeString result = form->normalize(from, status);
  KIN_CHECK(U_SUCCESS(status), "ICU carries the data of its normal forms");
  return result;
}

icu::UnicodeString lowered(const icu::UnicodeString& from) {
  icu::UnicodeString result;
  for (std::int32_t i = 0; i < from.length(); i = from.moveIndex32(i, 1)) {
    result.append(u_tolower(from.char32At(i)));
  }
  return result;
}

bool splits_at_white_space(Normalization preset) {
  return preset == Normalization::kNone || preset == Normalization::kLight;
}

bool is_separator(UChar32 c, Normalization preset) {
  if (splits_at_white_space(preset)) return u_isUWhiteSpace(c);
  return (U_GET_GC_MASK(c) & (U_GC_L_MASK | U_GC_M_MASK | U_GC_N_MASK)) == 0;
}

icu::UnicodeString collapsed(const icu::UnicodeString& from, Normalization preset) {
  icu::UnicodeString result;
  bool pending = false;
  for (std::int32_t i = 0; i < from.length(); i = from.moveIndex32(i, 1)) {
    const UChar32 c = from.char32At(i);
    if (preset == Normalization::kAggressive && c >= 0x300 && c <= 0x36F) continue;
    if (is_separator(c, preset)) {
      pending = true;
      continue;
    }
    // A space is written when the next word begins, so there is none at either end.
    if (pending && !result.isEmpty()) result.append(static_cast<UChar32>(' '));
    pending = false;
    result.append(c);
  }
  return result;
}

icu::UnicodeString normalized(std::string_view utf8, Normalization preset) {
  if (base_of(preset) != preset) {
    std::string prepared;
    prepare(utf8, preset, prepared);
    return normalized(prepared, base_of(preset));
  }
  icu::UnicodeString text = icu::UnicodeString::fromUTF8(
      icu::StringPiece(utf8.data(), static_cast<std::int32_t>(utf8.size())));
  if (preset == Normalization::kNone) return text;
  text = normal_form(text, preset);
  // As in normalize.cc: lowering may undo the normal form.
  if (!splits_at_white_space(preset)) text = normal_form(lowered(text), preset);
  return collapsed(text, preset);
}

}  // namespace

std::string normalize_reference(std::string_view utf8, Normalization preset) {
  std::string out;
  normalized(utf8, preset).toUTF8String(out);
  return out;
}

std::vector<std::string> words_reference(std::string_view utf8, Normalization named) {
  const icu::UnicodeString text = normalized(utf8, named);
  const Normalization preset = base_of(named);
  std::vector<std::string> words;
  bool joins = false;    // the next character goes on with the last word
  bool in_unit = false;  // the last word is a character of a script without spaces
  for (std::int32_t i = 0; i < text.length(); i = text.moveIndex32(i, 1)) {
    const UChar32 c = text.char32At(i);
    if (is_separator(c, preset)) {
      joins = in_unit = false;
      continue;
    }
    const bool mark = (U_GET_GC_MASK(c) & U_GC_M_MASK) != 0;
    const bool unit = is_unspaced(static_cast<char32_t>(c));
    if (unit || (in_unit && !mark)) joins = false;
    if (!joins) words.emplace_back();
    icu::UnicodeString(c).toUTF8String(words.back());
    joins = true;
    in_unit = unit || (in_unit && mark);
  }
  return words;
}

}  // namespace kin::text
