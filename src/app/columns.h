// How wide text is on a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kin::app {

// The columns that valid UTF-8 takes on a terminal: two for wide characters of East Asia and for
// emoji, none for combining marks. Bytes that are not UTF-8 take one each.
std::size_t display_columns(std::string_view text);

// As much of the beginning of `text` as fits so many columns, with "…" for what was cut. No
// character is cut in two.
std::string cut_to_columns(std::string_view text, std::size_t columns);

}  // namespace kin::app
