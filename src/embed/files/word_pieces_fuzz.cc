// Any tokenizer.json is refused or cuts any word into tokens it has.
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "embed/files/word_pieces.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto pieces = kin::embed::internal::WordPieces::parse(input);
  if (!pieces.ok()) return 0;
  std::vector<std::uint32_t> tokens;
  for (const std::string_view word : {std::string_view("sailing"), std::string_view("a"), input})
    pieces->append_pieces(word, tokens);
  for (const std::uint32_t token : tokens)
    KIN_CHECK(token < pieces->tokens(), "a token has a number below their count");
  return 0;
}
