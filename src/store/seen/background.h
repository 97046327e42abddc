// The work of a seen set that nobody waits for: full tables become runs, runs are merged.
#pragma once

#include <memory>
#include <mutex>
#include <thread>

#include "base/result.h"
#include "store/seen/runs.h"
#include "store/seen/state.h"

namespace kin::store {

// Works on a thread of its own between start() and stop(), or when asked step by step. A failure
// poisons `state` and ends the work.
class SeenBackground {
 public:
  SeenBackground(const SeenPlacement& placement, SeenState& state, std::unique_ptr<SeenRuns> runs)
      : placement_(placement), state_(state), runs_(std::move(runs)) {}
  ~SeenBackground() { stop(); }

  void start();
  // Finishes the table that waits, if any, and the step under way.
  void stop();
  // One step, here and now: a table that waits, or a piece of a merge. False if neither is due.
  Result<bool> step(MergeRule rule);

  // Between two steps:
  Status verify();
  Status note_log(const LogPosition& log);

 private:
  Result<bool> try_step(MergeRule rule);

  SeenPlacement placement_;
  SeenState& state_;
  std::mutex mutex_;  // held through a step
  std::unique_ptr<SeenRuns> runs_;
  std::thread thread_;
};

}  // namespace kin::store
