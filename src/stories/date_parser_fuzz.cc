// A parsed date is in range, and formatting and parsing it again gives the same date.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "stories/date_parser.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto time = kin::stories::parse_date({reinterpret_cast<const char*>(data), size});
  if (!time) return 0;
  const auto again = kin::stories::parse_date(kin::stories::format_date(*time));
  const auto since_epoch = time->time_since_epoch().count();
  const bool at_the_edge = since_epoch < -2'208'988'800 || since_epoch >= 7'258'118'400;
  if (!at_the_edge && again != time) std::abort();
  return 0;
}
