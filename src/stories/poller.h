// Background work of a newsroom: polls feeds and removes old items.
#pragma once

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
  // Receives the error of a step that failed as a whole, on the thread of step(). The error of one
  // feed is stored with the feed and not reported here.
  std::function<void(const Error&)> on_problem{};
};

// Has no thread of its own: somebody calls step(). Thread-safe, but one thread calls step().
class Poller {
 public:
  // `newsroom` and `clock` must outlive it.
  Poller(Newsroom& newsroom, Clock& clock, PollerOptions options);

  // Asks for a poll of `feed`, or of every feed, even if they are not due. Returns at once; the
  // next step does the work.
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
  Status poll_due();
  Status sweep_if_late();
  Result<std::chrono::milliseconds> time_to_next() const;
  Time now() const;

  Newsroom& newsroom_;
  Clock& clock_;
  const PollerOptions options_;
  std::mutex lock_;
  Asked asked_;                // guarded by lock_
  std::optional<Time> swept_;  // used by step() alone
};

}  // namespace kin::stories
