// When a router asks a follower of a shard whose owner takes longer than usual, and how often.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <typeindex>
#include <utility>

#include "router/router.h"

namespace kin::router {

// How long calls took: a histogram that forgets. Every kHalfLife calls all earlier ones count half.
// Thread-compatible.
class ReplyTimes {
 public:
  static constexpr std::size_t kHalfLife = 250;

  void add(std::chrono::nanoseconds took);
  // Calls that it knows of, where earlier ones count less.
  double calls() const { return calls_; }
  // A time that at most `share` of the calls exceeded, up to a fifth too long; zero without calls.
  std::chrono::nanoseconds exceeded_by(double share) const;

 private:
  // Upper ends of the buckets, each 2^(1/4) times the one before; the last one has no end.
  static constexpr std::size_t kBuckets = 64;
  static const std::array<std::chrono::nanoseconds, kBuckets>& bounds();

  std::array<double, kBuckets> counts_ = {};
  double calls_ = 0;
  std::size_t since_half_ = 0;
};

// The delays after which followers are asked, by shard and kind of request, and the budget of calls
// to them: a slow index is not made slower by twice the calls (Dean and Barroso, "The Tail at
// Scale", 2013). Thread-safe.
class Hedging {
 public:
  using Kind = std::type_index;  // of a request

  // `most` is the delay while little is known, and the longest one.
  Hedging(const HedgeOptions& options, std::chrono::nanoseconds most)
      : options_(options), most_(most) {}

  // How long an owner may take to answer before a follower is asked, too.
  std::chrono::nanoseconds delay(const std::string& shard, Kind kind) const;
  // An owner took so long; or longer, where a follower that was asked later was faster.
  void took(const std::string& shard, Kind kind, std::chrono::nanoseconds time);

  // A call begins that followers may answer, too: it adds to the budget.
  void earn();
  // Uses up one call to a follower. False: there were too many already.
  bool spend();

 private:
  const HedgeOptions options_;
  const std::chrono::nanoseconds most_;

  mutable std::mutex mutex_;  // guards what follows
  std::map<std::pair<std::string, Kind>, ReplyTimes> times_;
  double budget_ = 0;  // calls to followers
};

}  // namespace kin::router
