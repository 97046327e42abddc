#include "base/time_text.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

namespace kin {

std::string iso_time(WallTime at) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(at);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(seconds.time_since_epoch().count()),
                     (at - seconds).count());
}

}  // namespace kin
