// When to try again, and when to stop trying.
#pragma once

#include <chrono>
#include <mutex>

#include "base/random.h"
#include "cloud/cloud_options.h"

namespace kin::cloud {

// The number of retries that a client may still make. Thread-safe.
class RetryBudget {
 public:
  explicit RetryBudget(int capacity) : capacity_(capacity), left_(capacity) {}

  // False if there is none left.
  bool take() {
    const std::lock_guard lock(mutex_);
    if (left_ == 0) return false;
    --left_;
    return true;
  }
  // After a request that succeeded.
  void give_back() {
    const std::lock_guard lock(mutex_);
    if (left_ < capacity_) ++left_;
  }

 private:
  std::mutex mutex_;
  const int capacity_;
  int left_;
};

// The wait before the next try, after `tries` have failed: random, from 0 to base × 2^(tries-1) or
// `longest`.
std::chrono::nanoseconds full_jitter(const RetryOptions& options, int tries, Random& random);

}  // namespace kin::cloud
