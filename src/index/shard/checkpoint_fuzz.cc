#include <cstdint>
#include <string>

#include "base/bytes.h"
#include "base/check.h"
#include "base/hash.h"
#include "index/shard/checkpoint.h"

// Decoded bytes encode to the same bytes. Tried as they are, and with a corrected checksum so that
// the decoder behind it is reached.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kin;
  std::string bytes(reinterpret_cast<const char*>(data), size);
  for (int round = 0; round < 2; ++round) {
    const auto checkpoint = index::decode_shard_checkpoint(bytes);
    if (checkpoint.ok()) KIN_CHECK(index::encode(*checkpoint) == bytes, "one spelling");
    append_le(bytes, checksum(bytes));
  }
  return 0;
}
