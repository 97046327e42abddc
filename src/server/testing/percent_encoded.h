// Escapes for addresses, for tests of the server.
#pragma once

#include <string>
#include <string_view>

#include "base/ascii.h"

namespace kin::server {

// `text` with everything escaped that has a meaning in a query.
inline std::string percent_encoded(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain =
        is_ascii_digit(c) || is_ascii_alpha(c) || c == '-' || c == '.' || c == '_' || c == '~';
    if (plain) {
      out += c;
    } else {
      out += percent_escape(c);
    }
  }
  return out;
}

}  // namespace kin::server
