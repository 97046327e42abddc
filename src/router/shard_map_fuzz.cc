// Whatever the decoder of maps accepts must encode to something that means the same.
#include "router/shard_map.h"

#include <cstdlib>

#include "base/bytes.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  std::string sealed(bytes);
  kin::append_le(sealed, kin::checksum(sealed));
  for (const std::string_view tried : {bytes, std::string_view(sealed)}) {
    const auto map = kin::router::decode_shard_map(tried);
    if (map.ok() && *kin::router::decode_shard_map(kin::router::encode(*map)) != *map) std::abort();
  }
  return 0;
}
