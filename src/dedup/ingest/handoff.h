// Passes batches from one thread to another, one at a time.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>

namespace kin::dedup {

// One thread puts, one takes. At most one batch waits, so memory is bounded.
template <typename T>
class Handoff {
 public:
  // Waits until there is room. False if the taker has stopped: the value is dropped.
  bool put(T value) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stopped_ || !value_; });
    if (stopped_) return false;
    value_ = std::move(value);
    changed_.notify_all();
    return true;
  }
  // Declares that nothing more will be put.
  void finish() {
    const std::scoped_lock lock(mutex_);
    finished_ = true;
    changed_.notify_all();
  }

  // Waits for the next value; nothing after the last.
  std::optional<T> take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return finished_ || value_; });
    std::optional<T> taken = std::exchange(value_, std::nullopt);
    changed_.notify_all();
    return taken;
  }
  // Declares that nothing more will be taken.
  void stop() {
    const std::scoped_lock lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<T> value_;
  bool finished_ = false;
  bool stopped_ = false;
};

}  // namespace kin::dedup
