// A thread for the background work of an index.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

#include "base/clock.h"
#include "base/result.h"
#include "base/step.h"

namespace kin::search {

// Calls `work` as long as it works. Then waits for wake(), the time that `work` names, or a second.
// An error of `work` is passed to `on_problem`, and the thread waits, too. Thread-safe.
class Caretaker {
 public:
  using Work = std::function<Result<StepOutcome>()>;
  Caretaker(const Clock& clock, Work work, std::function<void(const Error&)> on_problem);
  // Blocks until the running call of `work` returns.
  ~Caretaker();

  void wake();
  // Returns once `work` is idle or `stop` returns true. Returns the error if `work` fails
  // meanwhile.
  Status wait_until_idle(const std::function<bool()>& stop);

 private:
  void run(const std::stop_token& stop);

  const Clock& clock_;
  Work work_;
  std::function<void(const Error&)> on_problem_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::uint64_t wanted_ = 0;      // number of calls of wake()
  std::uint64_t idle_up_to_ = 0;  // nothing is due for the calls up to this one
  Status last_ = Done{};
  std::jthread thread_;
};

}  // namespace kin::search
