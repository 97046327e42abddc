// The path of a parsed target has no controls, and its parameters survive a round trip.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "server/http/target.h"
#include "server/testing/percent_encoded.h"

namespace {

void require(bool truth) {
  if (!truth) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kin::server;
  const auto target = parse_target({reinterpret_cast<const char*>(data), size});
  if (!target.ok()) return 0;
  require(target->path.starts_with('/'));
  require(target->path.find_first_of(std::string_view("\0\r\n", 3)) == std::string::npos);
  std::string again = "/" + percent_encoded(target->path.substr(1)) + "?";
  for (const Parameter& parameter : target->query)
    again += percent_encoded(parameter.name) + "=" + percent_encoded(parameter.value) + "&";
  const auto twice = parse_target(again);
  require(twice.ok() && twice->path == target->path && twice->query == target->query);
  return 0;
}
