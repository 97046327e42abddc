// Whatever the decoder accepts encodes to what was read, also when the checksum is made to hold.
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
