#include "search/serving/caretaker.h"

#include <algorithm>
#include <chrono>

#include "base/workers.h"

namespace kin::search {

Caretaker::Caretaker(const Clock& clock, Work work, std::function<void(const Error&)> on_problem)
    : clock_(clock),
      work_(std::move(work)),
      on_problem_(std::move(on_problem)),
      // The last member, so that all others exist when the thread starts.
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

Caretaker::~Caretaker() {
  thread_.request_stop();
  thread_.join();
}

void Caretaker::wake() {
  const std::lock_guard lock(mutex_);
  ++wanted_;
  changed_.notify_all();
}

Status Caretaker::wait_until_idle(const std::function<bool()>& stop) {
  std::unique_lock lock(mutex_);
  // The thread works at least once more for this number. Errors from before do not count.
  const std::uint64_t mine = ++wanted_;
  last_ = Done{};
  changed_.notify_all();
  // Nothing notifies when `stop` changes, so it is polled.
  constexpr std::chrono::milliseconds kAskEvery{100};
  while (idle_up_to_ < mine && last_.ok()) {
    changed_.wait_for(lock, kAskEvery);
    if (stop && stop()) return Done{};
  }
  return last_;
}

void Caretaker::run(const std::stop_token& stop) {
  give_way();
  while (!stop.stop_requested()) {
    // Read before the work: a wake() during the work may concern something already passed.
    std::unique_lock lock(mutex_);
    const std::uint64_t seen = wanted_;
    lock.unlock();
    const Result<StepOutcome> outcome = work_();
    if (!outcome && on_problem_) on_problem_(outcome.error());
    lock.lock();
    if (outcome && outcome->did_work()) continue;
    // Steps may become due without a wake(), so it looks once a second.
    std::chrono::nanoseconds pause = std::chrono::seconds(1);
    const SteadyTime now = clock_.steady_now();
    if (!outcome) {
      last_ = outcome.error();
    } else if (const auto next = outcome->next(now)) {
      pause = std::min<std::chrono::nanoseconds>(pause, *next - now);
    } else {
      idle_up_to_ = seen;
    }
    changed_.notify_all();
    changed_.wait_for(lock, stop, pause, [&] { return wanted_ != seen; });
  }
}

}  // namespace kin::search
