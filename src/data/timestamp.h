// Points in time, as datasets write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kin::data {

// Seconds since 1970. Reads seconds ("1394470370", "1394470370.5"), milliseconds (numbers from
// 10^11), and ISO 8601: a date, or a date and a time separated by 'T' or a space, then nothing
// (UTC), "Z", or an offset such as "+02:00". Fractions of a second are dropped. Years 0 to 9999.
// Nothing for other text. Thread-safe.
std::optional<std::int64_t> parse_timestamp(std::string_view text);

// Seconds since 1970 as "2014-03-10T16:52:50Z"; years 0 to 9999. Thread-safe.
std::string format_timestamp(std::int64_t seconds);

}  // namespace kin::data
