// Bytes that no encoder wrote are refused; what is read has one spelling.
#include <cstdlib>

#include "router/shipped_log.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kin;
  // With a right checksum, so that what is behind it is read.
  std::string bytes(reinterpret_cast<const char*>(data), size);
  append_le(bytes, checksum(bytes));
  const auto decoded = router::decode_log_object(bytes);
  if (decoded.ok() && router::encode(*decoded) != bytes) std::abort();
  return 0;
}
