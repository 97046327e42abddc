// The normalisation presets, which remove differences that do not count when texts are compared.
// All functions are thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace kin::text {

enum class Normalization : std::uint8_t {
  kNone,        // the text as it is
  kLight,       // NFC; runs of white space become one space, none at the ends
  kStandard,    // kLight, simple lower case; all but letters, marks and numbers become a space
  kAggressive,  // kStandard with NFKD, and without the accents U+0300..U+036F
  // Source code: comments go, white space does not count, every operator is a word (text/code.h).
  // Case stays. How comments are written is guessed from the text.
  kCode,
  // As other tools prepare texts for comparison:
  kFineweb,     // datatrove: kAggressive, and each number, with its decimals, becomes 0
  kSlimpajama,  // kStandard without ASCII punctuation: "don't" becomes "dont"
};

// The preset by which a prepared text is normalised: kCode, kFineweb and kSlimpajama change the
// text before another preset is applied. For other presets it is the preset itself.
constexpr Normalization base_of(Normalization preset) {
  switch (preset) {
    case Normalization::kNone:
    case Normalization::kLight:
    case Normalization::kStandard:
    case Normalization::kAggressive: return preset;
    case Normalization::kCode: return Normalization::kLight;
    case Normalization::kFineweb: return Normalization::kAggressive;
    case Normalization::kSlimpajama: return Normalization::kStandard;
  }
  KIN_UNREACHABLE();
}

// Parses "none", "light", "standard", "aggressive", "code", "fineweb" or "slimpajama".
Result<Normalization> parse_normalization(std::string_view name);
std::string_view name_of(Normalization preset);

// The version of the Unicode tables, such as "15.0.0". Another version may normalise differently.
std::string unicode_version();

bool is_valid_utf8(std::string_view bytes);

// Replaces `out` by the normalised text. Valid UTF-8 gives valid UTF-8, and normalising again
// changes nothing, except for kCode, whose result may look like another language. Ill-formed bytes
// are safe; their result is unspecified. `utf8` must not be a view of `out`.
void normalize(std::string_view utf8, Normalization preset, std::string& out);

}  // namespace kin::text
