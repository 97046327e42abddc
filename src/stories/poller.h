// Background work of a newsroom: polls feeds and removes old items.
#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <set>

#include "base/clock.h"
#include "base/result.h"
#include "base/step.h"
#include "stories/newsroom.h"

namespace kin::stories {

struct PollerOptions {
  bool automatic = true;  // false: only feeds named in refresh() are polled
  // A feed is polled on request at most once in this time; later requests wait until it is over.
  std::chrono::seconds request_gap{30};
  // Receives the error of a step that failed as a whole, on the thread of step(). The error of one
  // feed is stored with the feed and not reported here.
  std::function<void(const Error&)> on_problem{};
};

// Has no thread: the caller calls step(). Thread-safe, but one thread calls step().
class Poller {
 public:
  // `newsroom` and `clock` must outlive it.
  Poller(Newsroom& newsroom, Clock& clock, PollerOptions options);

  // Asks for a poll of `feed`, or of every feed, even if they are not due. Returns at once; the
  // next step does the work, or a later one for feeds that were polled just now.
  void refresh(std::optional<FeedId> feed);

  // Polls the feeds asked for and those that are due, and sweeps the newsroom once a day. Fetches
  // block; Newsroom::cancel() ends them. Returns the time of the next step; call it earlier after
  // refresh(), or when a feed was added.
  StepOutcome step();

 private:
  struct Asked {
    bool all = false;
    std::set<FeedId> feeds{};
  };
  Status poll_asked(const Asked& asked);
  // When the feed may be polled on request.
  Time ready(const FollowedFeed& feed) const;
  Status poll_due();
  Status sweep_if_late();
  Result<std::chrono::milliseconds> time_to_next() const;
  Time now() const;

  Newsroom& newsroom_;
  Clock& clock_;
  const PollerOptions options_;
  std::mutex lock_;
  Asked asked_;  // guarded by lock_
  // Used by step() alone:
  std::optional<Time> swept_;
  std::set<FeedId> held_;           // asked for, and polled too short a time ago
  std::optional<Time> first_held_;  // when the first of them may be polled
};

}  // namespace kin::stories
