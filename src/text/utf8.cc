#include <cstdint>
#include <string_view>

#include "text/internal/utf8.h"
#include "text/normalize.h"

namespace kin::text {
namespace {

bool is_tail(char byte) {
  return (static_cast<std::uint8_t>(byte) & 0xC0) == 0x80;
}

// The length of the well-formed sequence at `from` (which is not ASCII), or 0: table 3-7 of the
// Unicode Standard.
std::size_t sequence_length(const char* from, const char* end) {
  const auto lead = static_cast<std::uint8_t>(*from);
  const std::ptrdiff_t left = end - from;
  if (lead < 0xC2 || lead > 0xF4 || left < 2) return 0;
  const auto second = static_cast<std::uint8_t>(from[1]);
  if (lead < 0xE0) return is_tail(from[1]) ? 2 : 0;
  if (lead < 0xF0) {
    const std::uint8_t low = lead == 0xE0 ? 0xA0 : 0x80;
    const std::uint8_t high = lead == 0xED ? 0x9F : 0xBF;
    return left >= 3 && second >= low && second <= high && is_tail(from[2]) ? 3 : 0;
  }
  const std::uint8_t low = lead == 0xF0 ? 0x90 : 0x80;
  const std::uint8_t high = lead == 0xF4 ? 0x8F : 0xBF;
  return left >= 4 && second >= low && second <= high && is_tail(from[2]) && is_tail(from[3]) ? 4
                                                                                              : 0;
}

}  // namespace

bool is_valid_utf8(std::string_view bytes) {
  const char* at = bytes.data();
  const char* const end = at + bytes.size();
  while ((at = skip_ascii(at, end)) != end) {
    do {
      const std::size_t length = sequence_length(at, end);
      if (length == 0) return false;
      at += length;
    } while (at != end && !is_ascii(*at));
  }
  return true;
}

}  // namespace kin::text
