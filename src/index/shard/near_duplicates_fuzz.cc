#include <cstdint>
#include <string>

#include "base/bytes.h"
#include "base/check.h"
#include "base/hash.h"
#include "index/shard/near_duplicates.h"

// The bytes are tried as they are, and with a corrected checksum so that the decoder is reached.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kin;
  std::string bytes(reinterpret_cast<const char*>(data), size);
  for (int round = 0; round < 2; ++round) {
    const auto page = index::decode_signature_page(bytes);
    if (page.ok()) KIN_CHECK(index::encode(*page) == bytes, "one spelling");
    append_le(bytes, checksum(bytes));
  }
  return 0;
}
