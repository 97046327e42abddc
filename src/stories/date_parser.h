// Dates as feeds write them.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace kin::stories {

using Time = std::chrono::sys_seconds;

// Parses a date; nothing if `text` is not one.
//
// Accepts RFC 822 and its successors ("Tue, 05 Mar 24 8:05 EST"), with two-digit years, named
// zones, no seconds, no weekday or a wrong one; RFC 3339 and ISO 8601, also without time, zone or
// separators; asctime and date(1); "March 5, 2024 8:05 pm"; "05/03/2024" (a number above 12 is the
// day, otherwise the month comes first); month names of some European languages; Unix seconds and
// milliseconds. A time without a known zone is UTC. Fractions of a second are cut off; a leap
// second becomes the second before it. Years from 1900 to 2199. Thread-safe.
std::optional<Time> parse_date(std::string_view text);

// "2024-03-05T13:05:00Z". Thread-safe.
std::string format_date(Time time);

}  // namespace kin::stories
