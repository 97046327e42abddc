// Offsets in one file for pieces that several threads produce.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>

namespace kin {

// Assigns offsets in the order of the pieces' numbers, from 0 on, whichever piece is ready first.
// Every piece before a waiting one must be in the hands of a thread. Thread-safe.
class OrderedPlaces {
 public:
  explicit OrderedPlaces(std::uint64_t first) : next_place_(first) {}

  // The place of `bytes` bytes for piece `number`; waits for the pieces before it. Nothing if
  // one of them failed.
  std::optional<std::uint64_t> take(std::uint64_t number, std::uint64_t bytes) {
    std::unique_lock lock(mutex_);
    turn_.wait(lock, [&] { return failed_ || next_piece_ == number; });
    if (failed_) return {};
    ++next_piece_;
    turn_.notify_all();
    return std::exchange(next_place_, next_place_ + bytes);
  }
  // Makes every waiting and later call return nothing.
  void fail() {
    const std::scoped_lock lock(mutex_);
    failed_ = true;
    turn_.notify_all();
  }
  // The end of the last place assigned.
  std::uint64_t end() const {
    const std::scoped_lock lock(mutex_);
    return next_place_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable turn_;
  std::uint64_t next_piece_ = 0;
  std::uint64_t next_place_;
  bool failed_ = false;
};

}  // namespace kin
