// Bytes that the decoder accepts encode to the same bytes, also with a corrected checksum.
#include <cstdlib>

#include "base/bytes.h"
#include "store/seen/manifest.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  (void)kin::store::decode_seen_manifest(bytes);
  kin::append_le(bytes, kin::checksum(bytes));
  const auto manifest = kin::store::decode_seen_manifest(bytes);
  if (manifest && kin::store::encode(*manifest) != bytes) std::abort();
  return 0;
}
