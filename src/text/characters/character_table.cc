#include "text/characters/character_table.h"

#include <unicode/uchar.h>
#include <unicode/unorm2.h>
#include <unicode/uscript.h>
#include <unicode/utf8.h>

#include <algorithm>

namespace kin::text {
namespace {

// The scripts of Unicode's line-breaking class "complex context", and those of East Asia that
// put no space between words.
constexpr UScriptCode kUnspacedScripts[] = {
    USCRIPT_HAN,    USCRIPT_HIRAGANA, USCRIPT_KATAKANA,    USCRIPT_BOPOMOFO,
    USCRIPT_YI,     USCRIPT_TANGUT,   USCRIPT_NUSHU,       USCRIPT_KHITAN_SMALL_SCRIPT,
    USCRIPT_THAI,   USCRIPT_LAO,      USCRIPT_KHMER,       USCRIPT_MYANMAR,
    USCRIPT_TAI_LE, USCRIPT_TAI_VIET, USCRIPT_NEW_TAI_LUE, USCRIPT_LANNA,
    USCRIPT_AHOM,
};

constexpr std::uint32_t kLettersAndNumbers = U_GC_L_MASK | U_GC_N_MASK;

bool keeps_case(Normalization preset) {
  return preset == Normalization::kNone || preset == Normalization::kLight;
}

CharacterKind kind_of(UChar32 c, Normalization preset) {
  if (preset == Normalization::kAggressive && c >= 0x300 && c <= 0x36F) {
    return CharacterKind::kDropped;
  }
  const std::uint32_t category = U_GET_GC_MASK(c);
  // The presets that keep case split words at white space only.
  if (keeps_case(preset)) {
    if (u_isUWhiteSpace(c)) return CharacterKind::kSeparator;
  } else if ((category & (kLettersAndNumbers | U_GC_M_MASK)) == 0) {
    return CharacterKind::kSeparator;
  }
  if (category & U_GC_M_MASK) return CharacterKind::kMark;
  return is_unspaced(static_cast<char32_t>(c)) ? CharacterKind::kUnit : CharacterKind::kWord;
}

bool is_unstable(UChar32 c, UChar32 lower, Normalization preset) {
  if (preset == Normalization::kNone) return false;
  const UProperty check =
      preset == Normalization::kAggressive ? UCHAR_NFKD_QUICK_CHECK : UCHAR_NFC_QUICK_CHECK;
  // Only YES means that normalising never changes the character.
  return u_getIntPropertyValue(c, check) != UNORM_YES ||
         u_getIntPropertyValue(lower, check) != UNORM_YES ||
         u_getCombiningClass(c) != u_getCombiningClass(lower);
}

// NOLINTNEXTLINE(readability-function-size): ICU's macro
void encode(UChar32 c, Character& into) {
  std::uint8_t bytes[U8_MAX_LENGTH] = {};
  U8_APPEND_UNSAFE(bytes, into.length, c);
  std::copy(std::begin(bytes), std::end(bytes), into.bytes.begin());
}

Character character(UChar32 c, Normalization preset) {
  // A surrogate is not a character; ill-formed input can name one.
  if (U_IS_SURROGATE(c)) c = 0xFFFD;
  const UChar32 lower = keeps_case(preset) ? c : u_tolower(c);
  Character result{};
  result.kind = kind_of(lower, preset);
  result.combining_class = u_getCombiningClass(c);
  result.unstable = is_unstable(c, lower, preset);
  // These have no combining class and compose with nothing, like a space.
  encode(result.kind == CharacterKind::kSeparator ? ' ' : lower, result);
  return result;
}

}  // namespace

bool is_unspaced(char32_t c) {
  const auto code = static_cast<UChar32>(c);
  if ((U_GET_GC_MASK(code) & kLettersAndNumbers) == 0) return false;
  return std::any_of(std::begin(kUnspacedScripts), std::end(kUnspacedScripts),
                     [code](UScriptCode script) { return uscript_hasScript(code, script); });
}

const CharacterTable& CharacterTable::of(Normalization preset) {
  static const CharacterTable none(Normalization::kNone);
  static const CharacterTable light(Normalization::kLight);
  static const CharacterTable standard(Normalization::kStandard);
  static const CharacterTable aggressive(Normalization::kAggressive);
  switch (preset) {
    case Normalization::kNone: return none;
    case Normalization::kLight: return light;
    case Normalization::kStandard: return standard;
    case Normalization::kAggressive: return aggressive;
    case Normalization::kCode:
    case Normalization::kFineweb:
    case Normalization::kSlimpajama: return of(base_of(preset));
  }
  KIN_UNREACHABLE();
}

CharacterTable::~CharacterTable() {
  for (const auto& block : blocks_) delete block.load(std::memory_order_relaxed);
}

const CharacterTable::Block* CharacterTable::fill(std::size_t number) const {
  auto block = std::make_unique<Block>();
  for (std::size_t i = 0; i < kBlockSize; ++i) {
    (*block)[i] = character(static_cast<UChar32>(number << kBlockBits | i), preset_);
  }
  const Block* expected = nullptr;
  // Two threads may fill a block at the same time. They compute the same values; the second one's
  // are dropped.
  if (!blocks_[number].compare_exchange_strong(expected, block.get(), std::memory_order_acq_rel)) {
    return expected;
  }
  return block.release();
}

}  // namespace kin::text
