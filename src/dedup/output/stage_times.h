// The stages of a run: the present one, and the time that each took.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "dedup/progress.h"

namespace kin::dedup {

// Times a run from its construction on. One thread only.
class StageTimes {
 public:
  StageTimes(Progress& progress, Clock& clock)
      : progress_(progress), clock_(clock), started_(clock.steady_now()) {}

  // Ends the stage before and begins this one, also in the progress; kCancelled if the run was
  // stopped.
  Status enter(const char* stage);
  // The error of a stopped run.
  static Error stopped() { return {Code::kCancelled, "stopped"}; }
  // Ends the last stage. Returns the stages in order, with their seconds.
  std::vector<std::pair<std::string, double>> finish();
  // Seconds of the whole run so far.
  double seconds() const { return clock_.seconds_since(started_); }

 private:
  void leave();

  Progress& progress_;
  Clock& clock_;
  SteadyTime started_;
  const char* stage_ = nullptr;
  SteadyTime stage_started_;
  std::vector<std::pair<std::string, double>> stages_;
};

}  // namespace kin::dedup
