// Parses any bytes as JSON and walks over the result.
#include <cstdint>
#include <string_view>

#include "data/json_value.h"

namespace {

std::size_t count(const kin::data::JsonValue& value) {
  std::size_t total = 1 + value.text().size();
  for (const auto& item : value.items()) total += count(item);
  if (value.object() != nullptr) {
    for (const auto& member : *value.object()) total += count(member.second);
  }
  return total;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto parsed = kin::data::parse_json({reinterpret_cast<const char*>(data), size});
  return parsed.ok() && count(*parsed) == 0 ? 1 : 0;
}
