// Background work without threads of its own.
#pragma once

#include <optional>

#include "base/clock.h"

namespace kin {

// The outcome of one call of a room's `step()`, and when the next call makes sense. `server` and
// `app` own the threads that call steps; the simulator calls them in an order that a seed decides.
class [[nodiscard]] StepOutcome {
 public:
  // Something was done, and there may be more: call again.
  static StepOutcome worked() { return {Kind::kWorked, {}}; }
  // There is nothing to do until something changes.
  static StepOutcome idle() { return {Kind::kIdle, {}}; }
  // There is nothing to do before `time`, unless something changes.
  static StepOutcome not_before(SteadyTime time) { return {Kind::kNotBefore, time}; }

  bool did_work() const { return kind_ == Kind::kWorked; }
  // When to call again: now if it worked, at the given time, or nothing if it is idle.
  std::optional<SteadyTime> next(SteadyTime now) const {
    switch (kind_) {
      case Kind::kWorked: return now;
      case Kind::kIdle: return std::nullopt;
      case Kind::kNotBefore: return time_;
    }
    return std::nullopt;
  }

  // The outcome of two steps taken together: work if either worked, else the earlier time.
  friend StepOutcome combine(const StepOutcome& one, const StepOutcome& other) {
    if (one.did_work() || other.did_work()) return worked();
    if (one.kind_ == Kind::kIdle) return other;
    if (other.kind_ == Kind::kIdle) return one;
    return one.time_ < other.time_ ? one : other;
  }

 private:
  enum class Kind { kWorked, kIdle, kNotBefore };
  StepOutcome(Kind kind, SteadyTime time) : kind_(kind), time_(time) {}
  Kind kind_;
  SteadyTime time_;
};

}  // namespace kin
