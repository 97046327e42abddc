#include "server/service/step_thread.h"

namespace kin::server {

StepThread::StepThread(Clock& clock, std::function<StepOutcome()> step)
    : clock_(clock), step_(std::move(step)), thread_([this] { run(); }) {}

StepThread::~StepThread() {
  stop();
}

void StepThread::wake() {
  const std::lock_guard guard(lock_);
  woken_ = true;
  changed_.notify_all();
}

void StepThread::stop() {
  {
    const std::lock_guard guard(lock_);
    stopped_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

void StepThread::run() {
  const auto is_called = [this] { return stopped_ || woken_; };
  std::unique_lock guard(lock_);
  while (!stopped_) {
    // Cleared before the step, so that a wake during the step is not lost.
    woken_ = false;
    guard.unlock();
    const StepOutcome outcome = step_();
    guard.lock();
    const SteadyTime now = clock_.steady_now();
    // After work the next step is due at once, so there is no wait.
    if (const auto next = outcome.next(now)) {
      changed_.wait_for(guard, *next - now, is_called);
    } else {
      changed_.wait(guard, is_called);
    }
  }
}

}  // namespace kin::server
