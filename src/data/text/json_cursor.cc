#include "data/text/json_cursor.h"

#include <cstring>

namespace kin::data {
namespace {

bool is_structural(char c) {
  return c == '{' || c == '}' || c == '[' || c == ']' || c == ':' || c == ',';
}

// The closing quote of the string whose opening quote is at `at`; nullptr if there is none.
const char* closing_quote(const char* at, const char* end) {
  for (++at; at != end; ++at) {
    at = static_cast<const char*>(std::memchr(at, '"', static_cast<std::size_t>(end - at)));
    if (at == nullptr) return nullptr;
    // The opening quote is not a backslash, so the count stops inside the string.
    const char* before = at;
    while (before[-1] == '\\') --before;
    if ((at - before) % 2 == 0) return at;
  }
  return nullptr;
}

}  // namespace

const char* ScanningCursor::find_end() const {
  if (at_ == end_) return at_;
  if (*at_ == '"') {
    const char* const quote = closing_quote(at_, end_);
    return quote == nullptr ? end_ : quote + 1;
  }
  const char* end = at_ + 1;
  if (is_structural(*at_)) return end;
  while (end != end_ && !is_structural(*end) && !is_json_space(*end) && *end != '"') ++end;
  return end;
}

const char* check_strings(std::string_view record) {
  const char* at = record.data();
  const char* const end = at + record.size();
  for (; at != end; ++at) {
    if (*at != '"') continue;
    const char* const quote = closing_quote(at, end);
    if (quote == nullptr) return "a string is not closed";
    for (; at != quote; ++at) {
      if (static_cast<unsigned char>(*at) < 0x20)
        return "a control character in a string is not escaped";
    }
  }
  return nullptr;
}

}  // namespace kin::data
