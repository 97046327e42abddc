// A clock that moves only when it is told to.
#pragma once

#include <mutex>

#include "base/clock.h"

namespace kin {

// Thread-safe. sleep_for() returns at once and moves the clock on by that much, so code that
// sleeps runs as fast as it can and still sees time pass.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(WallTime start = WallTime{std::chrono::hours{24 * 365 * 50}})
      : now_(start) {}

  WallTime now() const override {
    const std::scoped_lock lock(mutex_);
    return now_ + std::chrono::floor<std::chrono::milliseconds>(passed_);
  }
  SteadyTime steady_now() const override {
    const std::scoped_lock lock(mutex_);
    return SteadyTime{} + std::chrono::hours{1} + passed_;
  }
  void sleep_for(std::chrono::nanoseconds duration) override { advance(duration); }

  void advance(std::chrono::nanoseconds duration) {
    const std::scoped_lock lock(mutex_);
    passed_ += duration;
  }

 private:
  mutable std::mutex mutex_;
  WallTime now_;
  std::chrono::nanoseconds passed_{0};
};

}  // namespace kin
