// Header lines and the fields in them, whatever a server sends.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "net/header_fields.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto header = kin::net::parse_header_line(input);
  if (header && header->name.empty()) std::abort();
  const auto type = kin::net::parse_content_type(input);
  if (!type.type.empty() && type.type.find('/') == std::string::npos) std::abort();
  const auto cache = kin::net::parse_cache_control(input);
  if (cache.max_age && cache.max_age->count() < 0) std::abort();
  const auto date = kin::net::parse_http_date(input);
  if (date && date->time_since_epoch() < -std::chrono::days(800'000)) std::abort();
  return 0;
}
