// Times as datasets write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kin::data {

// Of seconds since 1970 ("1394470370", "1394470370.5"), milliseconds (numbers from 10^11 on), or
// ISO 8601: a date, or a date and a time with 'T' or a space between, then nothing (UTC), "Z", or
// an offset such as "+02:00". Fractions of a second are dropped. Years 0 to 9999. Nothing for
// anything else. Thread-safe.
std::optional<std::int64_t> parse_timestamp(std::string_view text);

// "2014-03-10T16:52:50Z" of seconds since 1970; of years 0 to 9999. Thread-safe.
std::string format_timestamp(std::int64_t seconds);

}  // namespace kin::data
