// What the clients of cloud services count.
#pragma once

#include <cstdint>

namespace kin::cloud {

struct CallCounts {
  std::uint64_t requests = 0;   // sent, with retries
  std::uint64_t retries = 0;    // sent again, for any reason
  std::uint64_t throttles = 0;  // answered with "too many requests"
};

}  // namespace kin::cloud
