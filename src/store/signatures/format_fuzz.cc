// Bytes that the decoders accept must encode to the same bytes, and be consistent.
#include <cstdlib>

#include "store/signatures/format.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kin::store;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto manifest = decode_manifest(bytes); manifest.ok()) {
    if (encode_manifest(*manifest) != bytes) std::abort();
  }
  std::string padded(bytes);
  padded.resize(kPagesHeaderBytes);
  if (const auto width = decode_pages_header(padded); width.ok()) {
    if (*width == 0 || *width > kMaxSignatureBytes) std::abort();
  }
  return 0;
}
