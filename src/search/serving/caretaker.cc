#include "search/serving/caretaker.h"

#include <chrono>

#include "base/workers.h"

namespace kin::search {

Caretaker::Caretaker(Work work, std::function<void(const Error&)> on_problem)
    : work_(std::move(work)),
      on_problem_(std::move(on_problem)),
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
  const std::uint64_t mine = ++wanted_;
  last_ = Done{};
  changed_.notify_all();
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
    std::unique_lock lock(mutex_);
    const std::uint64_t seen = wanted_;
    lock.unlock();
    const Result<bool> worked = work_();
    if (!worked && on_problem_) on_problem_(worked.error());
    lock.lock();
    if (worked && *worked) continue;
    if (worked) {
      idle_up_to_ = seen;
    } else {
      last_ = worked.error();
    }
    changed_.notify_all();
    changed_.wait_for(lock, stop, std::chrono::seconds(1), [&] { return wanted_ != seen; });
  }
}

}  // namespace kin::search
