// Which differences between two texts do not count: the normalisation presets. All functions are
// thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace kin::text {

enum class Normalization : std::uint8_t {
  kNone,        // the text as it is
  kLight,       // NFC; runs of white space become one space, none at the ends
  kStandard,    // kLight, lower case, and whatever is no letter, mark or number becomes a space
  kAggressive,  // kStandard with NFKD, and without the accents U+0300..U+036F
};

// Of "none", "light", "standard", "aggressive".
Result<Normalization> parse_normalization(std::string_view name);
std::string_view name_of(Normalization preset);

// Of the tables that normalisation goes by, as "15.0.0": another one may give other texts.
std::string unicode_version();

bool is_valid_utf8(std::string_view bytes);

// Replaces `out` by the normalised text. Valid UTF-8 gives valid UTF-8, and normalising again
// changes nothing. Bytes that are no UTF-8 do no harm, but what becomes of them is not promised.
// `out` must not be what `utf8` looks at.
void normalize(std::string_view utf8, Normalization preset, std::string& out);

}  // namespace kin::text
