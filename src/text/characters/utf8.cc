#include "text/characters/utf8.h"

#include "base/utf8.h"

#include <string_view>

#include "text/normalize.h"

namespace kin::text {

bool is_valid_utf8(std::string_view bytes) {
  const char* at = bytes.data();
  const char* const end = at + bytes.size();
  while ((at = skip_ascii(at, end)) != end) {
    // In a run of other characters skip_ascii() would have nothing to skip.
    do {
      const std::size_t length = utf8_sequence_length(at, end);
      if (length == 0) return false;
      at += length;
    } while (at != end && !is_ascii(*at));
  }
  return true;
}

}  // namespace kin::text
