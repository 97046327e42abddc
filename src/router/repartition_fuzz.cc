// Whatever the decoder of repartitions accepts must encode to what was read.
#include "router/repartition.h"

#include <cstdlib>

#include "base/bytes.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  std::string sealed(bytes);
  kin::append_le(sealed, kin::checksum(sealed));
  for (const std::string_view tried : {bytes, std::string_view(sealed)}) {
    const auto made = kin::router::decode_repartition(tried);
    if (made.ok() && kin::router::encode(*made) != tried) std::abort();
  }
  return 0;
}
