#include "base/clock.h"

#include <thread>

namespace kin {
namespace {

class SystemClock final : public Clock {
 public:
  WallTime now() const override {
    // floor() and not a cast: casts round towards zero, so times before 1970 would be rounded up.
    return std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
  }
  SteadyTime steady_now() const override { return std::chrono::steady_clock::now(); }
  void sleep_for(std::chrono::nanoseconds duration) override {
    std::this_thread::sleep_for(duration);
  }
};

}  // namespace

Clock& system_clock() {
  static SystemClock clock;
  return clock;
}

}  // namespace kin
