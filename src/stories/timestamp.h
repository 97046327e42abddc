// Times as datasets write them.
#pragma once

#include <optional>
#include <string_view>

#include "stories/item.h"

namespace kin::stories {

// Of seconds since 1970 ("1394470370", "1394470370.5"), milliseconds (numbers from 10^11 on), or
// ISO 8601: a date, or a date and a time with 'T' or a space between, then nothing (UTC), "Z", or
// an offset such as "+02:00". Fractions of a second are dropped. Years 0 to 9999. Nothing for
// anything else. Thread-safe.
std::optional<UnixSeconds> parse_timestamp(std::string_view text);

}  // namespace kin::stories
