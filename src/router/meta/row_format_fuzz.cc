// Whatever the decoder accepts must encode to what was read. The input is also tried with a
// checksum that holds.
#include "router/meta/row_format.h"

#include <cstdlib>

#include "base/bytes.h"
#include "base/hash.h"

namespace {

void decode(std::string_view bytes) {
  const auto row = kin::router::decode_meta_row(bytes);
  if (row.ok() && kin::router::encode(*row) != bytes) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  decode(bytes);
  kin::append_le(bytes, kin::checksum(bytes));
  decode(bytes);
  return 0;
}
