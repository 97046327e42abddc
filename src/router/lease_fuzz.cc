// Whatever the decoder of leases accepts must encode to what was read.
#include "router/lease.h"

#include <cstdlib>

#include "base/bytes.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  std::string sealed(bytes);
  kin::append_le(sealed, kin::checksum(sealed));
  for (const std::string_view tried : {bytes, std::string_view(sealed)}) {
    const auto lease = kin::router::decode_lease(tried);
    if (lease.ok() && kin::router::encode(*lease) != tried) std::abort();
  }
  return 0;
}
