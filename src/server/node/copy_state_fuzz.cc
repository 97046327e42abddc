// Whatever the decoder of the state of a copy accepts must encode to what was read.
#include <cstdlib>

#include "base/bytes.h"
#include "base/hash.h"
#include "server/node/copy_state.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  std::string sealed(bytes);
  kin::append_le(sealed, kin::checksum(sealed));
  for (const std::string_view tried : {bytes, std::string_view(sealed)}) {
    const auto state = kin::server::decode_copy_state(tried);
    if (state.ok() && kin::server::encode(*state) != tried) std::abort();
  }
  return 0;
}
