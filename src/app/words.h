// Numbers formatted for people.
#pragma once

#include <cstdint>
#include <string>

namespace kin::app {

// 1234567 → "1,234,567".
std::string with_commas(std::uint64_t number);
// 1234567 → "1.23 M".
std::string short_count(std::uint64_t number);
// 75.3 → "1:15", 4000 → "1:06:40"; below a minute "12 s".
std::string short_duration(double seconds);

}  // namespace kin::app
