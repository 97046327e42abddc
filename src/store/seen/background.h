// The background work of a seen set: writes full tables out as runs, and merges runs.
#pragma once

#include <memory>
#include <mutex>
#include <thread>

#include "base/result.h"
#include "base/step.h"
#include "store/seen/runs.h"
#include "store/seen/state.h"

namespace kin::store {

// Works step by step when asked, or between start() and stop() on its own thread. The thread is
// here and not in `app`, because an insert hands a full table to it and continues: otherwise every
// program that inserts would need one. A failure poisons `state` and ends the work.
class SeenBackground {
 public:
  SeenBackground(const SeenPlacement& placement, SeenState& state, std::unique_ptr<SeenRuns> runs)
      : placement_(placement), state_(state), runs_(std::move(runs)) {}
  ~SeenBackground() { stop(); }

  void start();
  // Finishes the running step and the waiting table, if any.
  void stop();
  // Does one step on the caller's thread: writes out the waiting table, or merges one piece. Idle
  // if neither is due.
  Result<StepOutcome> step(MergeRule rule);

  // These wait for a running step:
  Status verify();
  Status note_log(const LogPosition& log);

 private:
  Result<StepOutcome> try_step(MergeRule rule);

  SeenPlacement placement_;
  SeenState& state_;
  std::mutex mutex_;  // held through a step
  std::unique_ptr<SeenRuns> runs_;
  std::thread thread_;
};

}  // namespace kin::store
