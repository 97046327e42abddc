// matches_glob() against a matcher that tries everything.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "data/files/glob.h"

namespace {

// Whether the set at the start of `pattern` (after its bracket) contains `c`, and the rest of the
// pattern; nothing if it is not closed.
bool split_set(std::string_view pattern, char c, bool& has, std::string_view& rest) {
  bool inverted = false;
  if (!pattern.empty() && pattern[0] == '!') {
    inverted = true;
    pattern.remove_prefix(1);
  }
  const std::size_t end = pattern.find(']', 1);
  if (pattern.empty() || end == std::string_view::npos) return false;
  has = false;
  for (std::size_t i = 0; i < end; ++i) {
    const auto byte = static_cast<unsigned char>(c);
    const auto low = static_cast<unsigned char>(pattern[i]);
    if (i + 2 < end && pattern[i + 1] == '-') {
      has = has || (low <= byte && byte <= static_cast<unsigned char>(pattern[i + 2]));
      i += 2;
    } else {
      has = has || low == byte;
    }
  }
  has = has != inverted;
  rest = pattern.substr(end + 1);
  return true;
}

bool matches_slowly(std::string_view pattern, std::string_view name) {
  if (pattern.empty()) return name.empty();
  if (pattern[0] == '*') {
    for (std::size_t i = 0; i <= name.size(); ++i) {
      if (matches_slowly(pattern.substr(1), name.substr(i))) return true;
    }
    return false;
  }
  if (name.empty()) return false;
  if (pattern[0] == '[') {
    bool has = false;
    std::string_view rest;
    return split_set(pattern.substr(1), name[0], has, rest) && has &&
           matches_slowly(rest, name.substr(1));
  }
  return (pattern[0] == '?' || pattern[0] == name[0]) &&
         matches_slowly(pattern.substr(1), name.substr(1));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0 || size > 24) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::size_t middle = bytes.find('\0');
  if (middle == std::string_view::npos) return 0;
  const std::string_view pattern = bytes.substr(0, middle);
  const std::string_view name = bytes.substr(middle + 1);
  if (kin::data::matches_glob(pattern, name) != matches_slowly(pattern, name)) std::abort();
  return 0;
}
