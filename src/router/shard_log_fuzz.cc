// Bytes that no encoder wrote are refused; what is read has one spelling.
#include "router/shard_log.h"

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kin;
  std::string bytes(reinterpret_cast<const char*>(data), size);
  const auto position = router::decode_log_position(bytes);
  if (position.ok() && router::encode(*position) != bytes) std::abort();
  append_le(bytes, checksum(bytes));
  const auto role = router::decode_log_role(bytes);
  if (role.ok() && router::encode(*role) != bytes) std::abort();
  return 0;
}
