#include "store/seen/background.h"

#include <algorithm>

#include "store/seen/log.h"

namespace kin::store {

void SeenBackground::start() {
  thread_ = std::thread([this] {
    // A failed step has poisoned the set. Continuing could write a manifest over an unknown one.
    while (state_.wait_for_work()) {
      if (!step(state_.merge_rule())) return;
    }
  });
}

void SeenBackground::stop() {
  state_.stop();
  if (thread_.joinable()) thread_.join();
}

Result<StepOutcome> SeenBackground::step(MergeRule rule) {
  // Held through the step: verify() and note_log() must see runs and manifest in agreement.
  const std::lock_guard lock(mutex_);
  auto worked = try_step(rule);
  if (!worked) state_.poison(worked.error());
  return worked;
}

Result<StepOutcome> SeenBackground::try_step(MergeRule rule) {
  const FrozenTable frozen = state_.frozen();
  LogPosition log = state_.position();
  // A waiting table comes first, because the writer may be blocked by it.
  if (frozen.table == nullptr) {
    if (!runs_->merge_due(rule)) return StepOutcome::idle();
    KIN_RETURN_IF_ERROR(runs_->merge_step(log, rule));
    state_.set_runs(*runs_, false);
    return StepOutcome::worked();
  }
  std::vector<SeenId> ids = frozen.table->ids();
  // A frozen table does not change, so it is read without the lock of the state.
  std::sort(ids.begin(), ids.end());
  // From this manifest on, the run holds the ids of that log.
  log.first = frozen.log + 1;
  KIN_RETURN_IF_ERROR(runs_->add_run(ids, log));
  state_.set_runs(*runs_, true);
  // If it stays behind, it is removed when the set is opened next.
  (void)placement_.disk->remove(log_path(placement_.folder, frozen.log));
  return StepOutcome::worked();
}

Status SeenBackground::verify() {
  const std::lock_guard lock(mutex_);
  return runs_->verify();
}

Status SeenBackground::note_log(const LogPosition& log) {
  const std::lock_guard lock(mutex_);
  return runs_->note_log(log);
}

}  // namespace kin::store
