// The version of Kindred.
#pragma once

#include <string_view>

namespace kin {
inline constexpr std::string_view kVersion = "0.1.0";
}  // namespace kin
