// Whatever the decoders of a directory accept must encode to what was read.
#include "router/node/directory.h"

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto place = kin::router::decode_place(bytes);
  if (place.ok() && kin::router::encode_place(*place) != bytes) std::abort();
  const auto divided = kin::router::decode_divided(bytes);
  if (divided.ok() && kin::router::encode_divided(*divided) != bytes) std::abort();
  const auto identity = kin::router::decode_identity(bytes);
  if (identity.ok() && kin::router::encode_identity(*identity) != bytes) std::abort();
  return 0;
}
