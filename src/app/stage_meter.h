// Progress of a stage of a run, and its remaining time.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "base/clock.h"
#include "dedup/progress.h"

namespace kin::app {

// A snapshot of a run's progress.
struct StageView {
  std::string stage;
  std::optional<double> share;           // of the stage, from 0 to 1; it never goes back
  std::optional<double> seconds_left;    // of the stage; nothing until it can be estimated
  std::optional<double> records_second;  // while records are read
  std::uint64_t records = 0;
  std::uint64_t duplicates = 0;
};

// Watches the progress of a run. Stages differ in speed, so the time left
// is that of the present stage, estimated from its speed in the last half
// minute. It is given only after the stage has run for some time and done
// a part of its work: earlier estimates would be far off. One thread only.
class StageMeter {
 public:
  StageMeter(const dedup::Progress& progress, const Clock& clock)
      : progress_(progress), clock_(clock) {}

  // Call it several times a minute.
  StageView look();

 private:
  struct Moment {
    SteadyTime time;
    double share;
  };
  void begin(const char* stage, SteadyTime now);
  std::optional<double> seconds_left(SteadyTime now) const;

  const dedup::Progress& progress_;
  const Clock& clock_;
  const char* stage_ = nullptr;
  SteadyTime begun_;
  std::uint64_t records_before_ = 0;
  std::optional<Moment> first_;  // of the stage whose share was known
  std::deque<Moment> recent_;
};

}  // namespace kin::app
