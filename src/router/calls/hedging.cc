#include "router/calls/hedging.h"

#include <algorithm>

namespace kin::router {
namespace {

constexpr std::chrono::microseconds kFirstBound{100};
constexpr double kStep = 1.189207115002721;  // 2^(1/4)
// Calls to followers that are saved up while owners are fast, for a moment in which they are not.
constexpr double kMostSaved = 10;

}  // namespace

const std::array<std::chrono::nanoseconds, ReplyTimes::kBuckets>& ReplyTimes::bounds() {
  static const auto all = [] {
    std::array<std::chrono::nanoseconds, kBuckets> made{};
    auto bound = std::chrono::duration<double, std::nano>(kFirstBound);
    for (auto& one : made) {
      one = std::chrono::nanoseconds(static_cast<std::int64_t>(bound.count()));
      bound *= kStep;
    }
    return made;
  }();
  return all;
}

void ReplyTimes::add(std::chrono::nanoseconds took) {
  const auto& ends = bounds();
  const auto bucket = std::lower_bound(ends.begin(), ends.end() - 1, took) - ends.begin();
  counts_[static_cast<std::size_t>(bucket)] += 1;
  calls_ += 1;
  if (++since_half_ < kHalfLife) return;
  since_half_ = 0;
  for (double& count : counts_) count /= 2;
  calls_ /= 2;
}

std::chrono::nanoseconds ReplyTimes::exceeded_by(double share) const {
  if (calls_ <= 0) return {};
  double above = 0;
  std::size_t bucket = kBuckets;
  while (bucket > 0 && above + counts_[bucket - 1] <= share * calls_) above += counts_[--bucket];
  return bounds()[bucket == 0 ? 0 : bucket - 1];
}

std::chrono::nanoseconds Hedging::delay(const std::string& shard, Kind kind) const {
  const std::lock_guard lock(mutex_);
  const auto found = times_.find({shard, kind});
  if (found == times_.end() || found->second.calls() < options_.known_calls) return most_;
  return std::min(std::max(found->second.exceeded_by(options_.slow), options_.least), most_);
}

void Hedging::took(const std::string& shard, Kind kind, std::chrono::nanoseconds time) {
  const std::lock_guard lock(mutex_);
  times_[{shard, kind}].add(time);
}

void Hedging::earn() {
  const std::lock_guard lock(mutex_);
  budget_ = std::min(budget_ + options_.budget, kMostSaved);
}

bool Hedging::spend() {
  const std::lock_guard lock(mutex_);
  // Sums of shares are not exact: twenty times 0.05 is a little less than 1.
  constexpr double kOne = 1 - 1e-9;
  if (budget_ < kOne) return false;
  budget_ -= 1;
  return true;
}

}  // namespace kin::router
