// Anything that can be decoded is the same after encoding and decoding again.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "data/pages/thrift_compact.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto value = kin::data::decode_thrift({reinterpret_cast<const char*>(data), size});
  if (!value) return 0;
  std::string once;
  kin::data::encode_thrift(once, *value);
  const auto again = kin::data::decode_thrift(once);
  if (!again) std::abort();
  std::string twice;
  kin::data::encode_thrift(twice, *again);
  if (once != twice || once.size() > size) std::abort();
  return 0;
}
