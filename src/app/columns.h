// The width of text on a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kin::app {

// The columns that valid UTF-8 takes on a terminal: two for wide characters of East Asia and for
// emoji, none for combining marks. Bytes that are not UTF-8 take one each.
std::size_t display_columns(std::string_view text);

// The beginning of `text` that fits `columns`, with "…" if something was cut off. Characters are
// never split.
std::string cut_to_columns(std::string_view text, std::size_t columns);

}  // namespace kin::app
