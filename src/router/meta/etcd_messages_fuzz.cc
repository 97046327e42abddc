#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "router/meta/etcd_messages.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kin::router;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto range = parse_range(bytes); range.ok())
    KIN_CHECK(range->revision > 0, "an answer has a revision");
  [[maybe_unused]] const auto swap = parse_swap(bytes);
  [[maybe_unused]] const auto line = parse_watch_line(bytes);
  [[maybe_unused]] const auto login = parse_login(bytes);
  [[maybe_unused]] const auto failure = parse_failure(bytes);
  return 0;
}
