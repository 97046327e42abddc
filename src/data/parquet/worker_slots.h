// Numbers for threads that a library owns.
#pragma once

#include <condition_variable>
#include <mutex>
#include <vector>

namespace kin::data {

// The numbers 0 … count - 1, each lent to one thread at a time. Thread-safe.
class WorkerSlots {
 public:
  explicit WorkerSlots(int count) {
    for (int i = count; i-- > 0;) free_.push_back(i);
  }
  // Waits until one is free.
  int take() {
    std::unique_lock lock(mutex_);
    freed_.wait(lock, [&] { return !free_.empty(); });
    const int slot = free_.back();
    free_.pop_back();
    return slot;
  }
  void give_back(int slot) {
    const std::scoped_lock lock(mutex_);
    free_.push_back(slot);
    freed_.notify_one();
  }

 private:
  std::mutex mutex_;
  std::condition_variable freed_;
  std::vector<int> free_;
};

}  // namespace kin::data
