// Bytes that the decoders accept encode to the same bytes.
#include "dedup/known/format.h"

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kin::dedup;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto manifest = decode_known(bytes); manifest && encode_known(*manifest) != bytes)
    std::abort();
  if (const auto value = decode_value(bytes); value && encode_value(*value) != bytes) std::abort();
  constexpr std::size_t kBands = 2;
  constexpr std::size_t kSignature = 4;
  if (size != known_row_bytes(kBands, kSignature)) return 0;
  KnownRow row;
  row.bands.resize(kBands);
  row.signature.resize(kSignature);
  decode_row(bytes, row);
  KnownRow again = row;
  decode_row(encode_row(row), again);
  if (!(again == row)) std::abort();
  return 0;
}
