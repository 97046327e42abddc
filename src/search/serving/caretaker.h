// A thread that does what is due, whenever something is.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "base/result.h"

namespace kin::search {

// Calls `work` until it returns that nothing is due, then waits until woken or a second has passed.
// After an error, which `on_problem` gets, it waits as well. Thread-safe.
class Caretaker {
 public:
  using Work = std::function<Result<bool>()>;
  Caretaker(Work work, std::function<void(const Error&)> on_problem);
  // Ends after the piece of work at hand.
  ~Caretaker();

  void wake();
  // Returns once nothing is due, or `stop` says so; the error of the work that failed meanwhile.
  Status settle(const std::function<bool()>& stop);

 private:
  void run(const std::stop_token& stop);

  Work work_;
  std::function<void(const Error&)> on_problem_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::uint64_t wanted_ = 0;   // how often it was woken
  std::uint64_t settled_ = 0;  // up to which of these nothing is due
  Status last_ = Done{};
  std::jthread thread_;
};

}  // namespace kin::search
