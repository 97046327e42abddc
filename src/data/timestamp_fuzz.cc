#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "data/timestamp.h"

// Any bytes give a time in range, or none.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto time = kin::data::parse_timestamp({reinterpret_cast<const char*>(data), size});
  constexpr std::int64_t kLimit = 300'000'000'000;
  KIN_CHECK(!time || (*time > -kLimit && *time < kLimit), "a time lies within reason");
  return 0;
}
