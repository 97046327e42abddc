// Bytes as text of letters, digits, '+' and '/', as JSON APIs carry them (RFC 4648, section 4).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace kin {

// All functions are thread-safe.
std::string to_base64(std::string_view bytes);
// Nothing if `text` is not base64 with its padding.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace kin
