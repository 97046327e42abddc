// Chunks cover any bytes, in order; over valid UTF-8 they never cut a character.
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "sketch/chunks.h"
#include "text/normalize.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using kin::sketch::ChunkOptions;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const bool valid = kin::text::is_valid_utf8(input);
  const std::uint32_t chunk_size = size == 0 ? 0 : data[0] % 24;
  for (const auto kind : {ChunkOptions::Kind::kFixed, ChunkOptions::Kind::kContentDefined}) {
    std::uint64_t at = 0;
    for (const auto& chunk : kin::sketch::chunks(input, {kind, chunk_size})) {
      KIN_CHECK(chunk.offset == at && chunk.length > 0, "chunks follow one another");
      at += chunk.length;
      const std::string_view piece = input.substr(chunk.offset, chunk.length);
      KIN_CHECK(!valid || kin::text::is_valid_utf8(piece), "no character is cut");
      const bool is_defined = kind == ChunkOptions::Kind::kContentDefined;
      KIN_CHECK(!is_defined || chunk.length <= 4 * std::max<std::uint64_t>(chunk_size, 1),
                "a chunk has at most four times its size");
    }
    KIN_CHECK(at == input.size(), "chunks cover the text");
  }
  return 0;
}
