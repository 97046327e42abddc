// Whatever the decoder of a repartition's row accepts must encode to what was read.
#include "router/node/repartition_row.h"

#include <cstdlib>

#include "base/bytes.h"
#include "base/hash.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  std::string sealed(bytes);
  kin::append_le(sealed, kin::checksum(sealed));
  for (const std::string_view tried : {bytes, std::string_view(sealed)}) {
    const auto row = kin::router::decode_repartition_row(tried);
    if (row.ok() && kin::router::encode(*row) != tried) std::abort();
  }
  return 0;
}
