#include "data/text/json_text.h"

#include <cstdint>
#include <optional>

#include "base/ascii.h"

namespace kin::data {
namespace {

constexpr const char* kWrongEscape = "an escape in a string is wrong";
constexpr const char* kLoneSurrogate = "a lone surrogate is not text";

// The grammar of RFC 8259, not what fits a machine word: ids longer than 64 bits are valid.
bool is_number(std::string_view text) {
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto digits = [&] {
    const char* const from = at;
    while (at < end && is_ascii_digit(*at)) ++at;
    return at > from;
  };
  if (at < end && *at == '-') ++at;
  if (at < end && *at == '0') {
    ++at;
  } else if (!digits()) {
    return false;
  }
  if (at < end && *at == '.') {
    ++at;
    if (!digits()) return false;
  }
  if (at < end && (*at == 'e' || *at == 'E')) {
    ++at;
    if (at < end && (*at == '+' || *at == '-')) ++at;
    if (!digits()) return false;
  }
  return at == end;
}

std::optional<std::uint32_t> four_hex_digits(const char* at, const char* end) {
  if (end - at < 4) return {};
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i) {
    const int digit = hex_value(at[i]);
    if (digit < 0) return {};
    value = value * 16 + static_cast<std::uint32_t>(digit);
  }
  return value;
}

char* put_utf8(std::uint32_t code, char* out) {
  const auto put = [&](std::uint32_t byte) { *out++ = static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xc0 | code >> 6);
    put(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    put(0xe0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3f));
    put(0x80 | (code & 0x3f));
  } else {
    put(0xf0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3f));
    put(0x80 | (code >> 6 & 0x3f));
    put(0x80 | (code & 0x3f));
  }
  return out;
}

// Reads the digits after "\u" at `at`, and advances `at` past them. A lone surrogate, which the
// grammar allows and UTF-8 cannot represent, is returned as such.
std::optional<std::uint32_t> unicode_escape(const char*& at, const char* end) {
  const auto first = four_hex_digits(at, end);
  if (!first) return {};
  at += 4;
  if (*first < 0xd800 || *first > 0xdbff) return first;
  if (end - at < 2 || at[0] != '\\' || at[1] != 'u') return first;
  const auto second = four_hex_digits(at + 2, end);
  if (!second || *second < 0xdc00 || *second > 0xdfff) return first;
  at += 6;
  return 0x10000 + ((*first - 0xd800) << 10) + (*second - 0xdc00);
}

bool is_surrogate(std::uint32_t code) {
  return code >= 0xd800 && code <= 0xdfff;
}

char simple_escape(char c) {
  switch (c) {
    case '"':
    case '\\':
    case '/': return c;
    case 'b': return '\b';
    case 'f': return '\f';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    default: return 0;
  }
}

}  // namespace

bool is_not_finite(std::string_view token) {
  return token == "NaN" || token == "Infinity" || token == "-Infinity";
}

bool is_json_scalar(std::string_view token) {
  return token == "true" || token == "false" || token == "null" || is_number(token) ||
         is_not_finite(token);
}

Unescaped unescape_json(std::string_view inside, char* out) {
  char* const begin = out;
  const char* at = inside.data();
  const char* const end = at + inside.size();
  while (at < end) {
    const auto* const slash =
        static_cast<const char*>(std::memchr(at, '\\', static_cast<std::size_t>(end - at)));
    const std::size_t plain = static_cast<std::size_t>((slash != nullptr ? slash : end) - at);
    std::memcpy(out, at, plain);
    out += plain;
    if (slash == nullptr) break;
    if (slash + 1 == end) return {0, kWrongEscape};
    at = slash + 2;
    if (slash[1] == 'u') {
      const auto code = unicode_escape(at, end);
      if (!code) return {0, kWrongEscape};
      if (is_surrogate(*code)) return {0, kLoneSurrogate};
      out = put_utf8(*code, out);
    } else if (const char c = simple_escape(slash[1]); c != 0) {
      *out++ = c;
    } else {
      return {0, kWrongEscape};
    }
  }
  return {static_cast<std::size_t>(out - begin), nullptr};
}

}  // namespace kin::data
