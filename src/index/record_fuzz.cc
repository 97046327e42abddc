// Bytes that the decoder of records accepts must encode to the same bytes.
#include "index/record.h"

#include <cstdlib>

#include "base/hash.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  // Almost no random bytes have the right checksum.
  std::string sealed(bytes);
  kin::append_le(sealed, kin::checksum(sealed));
  for (const std::string_view tried : {bytes, std::string_view(sealed)}) {
    const auto records = kin::index::decode_records(tried);
    if (records.ok() && kin::index::encode(*records) != tried) std::abort();
  }
  return 0;
}
