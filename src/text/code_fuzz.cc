// Tokens are parts of the text, in order, and never more than it has.
#include "text/code.h"

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kin::text;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::string out;
  for (const Comments comments : {Comments::kNone, Comments::kSlash, Comments::kHash,
                                  Comments::kDash, Comments::kMarkup, guess_comments(text)}) {
    code_tokens(text, comments, out);
    std::size_t at = 0;
    for (const char c : out) {
      if (c == ' ') continue;
      while (at < text.size() && text[at] != c) ++at;
      if (at++ == text.size()) std::abort();
    }
  }
  return 0;
}
