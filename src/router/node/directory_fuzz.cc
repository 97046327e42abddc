// Whatever the decoder of places accepts must encode to what was read.
#include "router/node/directory.h"

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto place = kin::router::decode_place(bytes);
  if (place.ok() && kin::router::encode_place(*place) != bytes) std::abort();
  return 0;
}
