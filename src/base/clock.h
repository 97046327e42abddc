// Time and sleeping, as a parameter: tests and the simulator pass a clock of their own
// (base/testing/manual_clock.h). Rooms other than `server` and `app` read no clock by themselves.
#pragma once

#include <chrono>

namespace kin {

// Wall-clock time, UTC. It may jump when somebody sets the machine's clock.
using WallTime = std::chrono::sys_time<std::chrono::milliseconds>;
// Time for durations and deadlines. It never goes back, and means nothing outside the process.
using SteadyTime = std::chrono::steady_clock::time_point;

// Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual WallTime now() const = 0;
  virtual SteadyTime steady_now() const = 0;
  // Seconds since `start`, a time of steady_now().
  double seconds_since(SteadyTime start) const {
    return std::chrono::duration<double>(steady_now() - start).count();
  }
  // Blocks the calling thread. Code that others may want to stop waits for an event instead.
  virtual void sleep_for(std::chrono::nanoseconds duration) = 0;
};

// The machine's own clock. Lives as long as the process.
Clock& system_clock();

}  // namespace kin
