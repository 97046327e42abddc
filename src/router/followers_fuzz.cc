// Whatever the decoder of followers accepts must encode to what was read.
#include "router/followers.h"

#include <cstdlib>

#include "base/bytes.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  std::string sealed(bytes);
  kin::append_le(sealed, kin::checksum(sealed));
  for (const std::string_view tried : {bytes, std::string_view(sealed)}) {
    const auto copies = kin::router::decode_followers(tried);
    if (copies.ok() && kin::router::encode(*copies) != tried) std::abort();
  }
  return 0;
}
