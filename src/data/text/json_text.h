// The tokens of JSON: strings, numbers, words.
#pragma once

#include <cstddef>
#include <cstring>
#include <string_view>

namespace kin::data {

inline bool is_json_space(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

inline std::string_view without_trailing_space(std::string_view text) {
  while (!text.empty() && is_json_space(text.back())) text.remove_suffix(1);
  return text;
}

// The inside of a string token: only white space can follow its closing quote.
inline std::string_view inside_of(std::string_view token) {
  token = without_trailing_space(token);
  return token.size() < 2 ? std::string_view() : token.substr(1, token.size() - 2);
}

inline bool has_escape(std::string_view inside) {
  return !inside.empty() && std::memchr(inside.data(), '\\', inside.size()) != nullptr;
}

// Whether `token` is a number, true, false or null, or one of NaN, Infinity and -Infinity, which
// Python and others write although JSON has no such values.
bool is_json_scalar(std::string_view token);
// NaN, Infinity or -Infinity.
bool is_not_finite(std::string_view token);

struct Unescaped {
  std::size_t length = 0;
  const char* problem = nullptr;  // what is wrong, if anything is
};

// Writes the text of a JSON string's inside (between the quotes) to `out`, which has room for
// as many bytes. A wrong escape is a problem, and so is a lone surrogate: JSON's grammar
// allows it, but UTF-8 cannot represent it, and a replacement would make different strings
// equal.
Unescaped unescape_json(std::string_view inside, char* out);

}  // namespace kin::data
