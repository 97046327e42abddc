// Counters of the clients of cloud services.
#pragma once

#include <atomic>
#include <cstdint>

namespace kin::cloud {

struct CallCounts {
  std::uint64_t requests = 0;   // sent, with retries
  std::uint64_t retries = 0;    // sent again, for any reason
  std::uint64_t throttles = 0;  // answered with "too many requests"
};

// Counts the calls of one client, or of several that share it. Thread-safe.
struct CallMeter {
  std::atomic<std::uint64_t> requests{0};
  std::atomic<std::uint64_t> retries{0};
  std::atomic<std::uint64_t> throttles{0};

  CallCounts counts() const {
    return {.requests = requests, .retries = retries, .throttles = throttles};
  }
};

}  // namespace kin::cloud
