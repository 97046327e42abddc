// Tokens of any bytes lie in the text, in order, and folding a folded word changes nothing.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "text/normalize.h"
#include "text/tokens.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  std::vector<kin::text::Token> tokens;
  kin::text::split_tokens(input, tokens);
  std::uint32_t end = 0;
  const bool valid = kin::text::is_valid_utf8(input);
  for (const kin::text::Token& token : tokens) {
    KIN_CHECK(token.begin >= end && token.end > token.begin && token.end <= size,
              "tokens are in order");
    end = token.end;
    std::string once;
    std::string twice;
    kin::text::fold_word(input.substr(token.begin, token.end - token.begin), once);
    kin::text::fold_word(once, twice);
    if (valid) KIN_CHECK(once == twice, "folding is idempotent");
  }
  return 0;
}
