// Any bytes either parse or give an error that points into the query.
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "index/text/query.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto query = kin::index::parse_query(input, {});
  if (!query.ok()) {
    const std::string& message = query.error().message;
    KIN_CHECK(message.back() == '^' || input.size() > 65'536, "an error points at a character");
  }
  return 0;
}
