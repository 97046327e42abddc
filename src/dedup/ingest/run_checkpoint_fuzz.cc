// Whatever the decoder accepts is the same after it was written and read again.
#include "dedup/ingest/run_checkpoint.h"

#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/hash.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kin::dedup;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto read_twice = [](std::string_view text) {
    const auto state = decode_ingest_state(text);
    if (!state) return;
    const auto again = decode_ingest_state(encode_ingest_state(*state));
    if (!again || !(*again == *state)) std::abort();
  };
  read_twice(bytes);
  // The checksum would keep the fuzzer out.
  char sum[17];
  std::snprintf(sum, sizeof sum, "%016llx", static_cast<unsigned long long>(kin::checksum(bytes)));
  read_twice("{\"checksum\":\"" + std::string(sum) + "\",\"checkpoint\":" + std::string(bytes) +
             "}\n");
  return 0;
}
