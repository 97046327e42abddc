// Numbers and tables formatted for people.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kin::app {

// 1234567 → "1,234,567".
std::string with_commas(std::uint64_t number);
// 1 and "item" → "1 item", 1234 and "item" → "1,234 items".
std::string counted(std::uint64_t count, std::string_view one);
// 1234567 → "1.23 M".
std::string short_count(std::uint64_t number);
// 75.3 → "1:15", 4000 → "1:06:40"; below a minute "12 s".
std::string short_duration(double seconds);

// Replaces control characters by spaces: text from strangers must not control the terminal.
std::string harmless(std::string_view text);

// Adds a line with a name and, in a column of their own, a value.
void add_row(std::string& table, std::string_view name, std::string_view value);

}  // namespace kin::app
