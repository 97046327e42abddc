// Counters of the clients of cloud services.
#pragma once

#include <atomic>
#include <cstdint>

namespace kin::cloud {

struct CallCounts {
  std::uint64_t requests = 0;    // sent, with retries
  std::uint64_t retries = 0;     // sent again, for any reason
  std::uint64_t throttles = 0;   // answered with "too many requests"
  double in_flight_seconds = 0;  // time in flight, added up over all requests
};

// Counts the calls of one client, or of several that share it. Thread-safe.
struct CallMeter {
  std::atomic<std::uint64_t> requests{0};
  std::atomic<std::uint64_t> retries{0};
  std::atomic<std::uint64_t> throttles{0};
  std::atomic<std::uint64_t> in_flight_microseconds{0};

  CallCounts counts() const {
    return {.requests = requests,
            .retries = retries,
            .throttles = throttles,
            .in_flight_seconds = 1e-6 * static_cast<double>(in_flight_microseconds)};
  }
};

}  // namespace kin::cloud
