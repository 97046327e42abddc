// A thread for background work that is written as steps (base/step.h).
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "base/clock.h"
#include "base/step.h"

namespace kin::server {

// Calls `step` on a thread of its own: at once, then whenever the last outcome says. Thread-safe.
class StepThread {
 public:
  // `clock` must outlive it.
  StepThread(Clock& clock, std::function<StepOutcome()> step);
  // As stop().
  ~StepThread();

  // Makes a step soon, whatever the last outcome was. Returns at once.
  void wake();
  // Makes no further steps and blocks until a running one has returned.
  void stop();

 private:
  void run();

  Clock& clock_;
  const std::function<StepOutcome()> step_;
  std::mutex lock_;
  std::condition_variable changed_;
  bool woken_ = false;
  bool stopped_ = false;
  std::thread thread_;
};

}  // namespace kin::server
