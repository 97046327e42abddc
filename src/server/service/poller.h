// The thread that asks feeds for news.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include "base/result.h"
#include "stories/newsroom.h"

namespace kin::server {

struct PollerOptions {
  bool automatic = true;                   // false: only what is asked for is polled
  std::function<stories::Time()> clock{};  // the newsroom's; the system's if there is none
  // Hears of what failed as a whole (a feed that fails shows that itself), on the poller's thread.
  std::function<void(const Error&)> on_problem{};
};

// Polls feeds when they are due or asked for, and once a day drops what is too old. Thread-safe.
class Poller {
 public:
  // `newsroom` must outlive it.
  Poller(stories::Newsroom& newsroom, PollerOptions options);
  // As stop().
  ~Poller();

  // Polls the feed, or all of them, whenever they are due. Returns at once.
  void refresh(std::optional<stories::FeedId> feed);
  // Something may be due that was not.
  void wake();
  // Returns when nothing runs any more: soon, if the newsroom was told to cancel.
  void stop();

 private:
  struct Work {
    bool due = false;  // those that are due
    bool all = false;
    std::set<stories::FeedId> feeds{};
  };
  void run();
  // Nothing if it is to end.
  std::optional<Work> await_work();
  std::chrono::milliseconds time_to_next();
  Status poll(const Work& work);
  Status sweep_if_late();
  stories::Time now() const;

  stories::Newsroom& newsroom_;
  const PollerOptions options_;
  std::mutex lock_;
  std::condition_variable changed_;
  Work asked_;
  bool woken_ = false;
  bool stopped_ = false;
  std::optional<stories::Time> swept_;  // the poller's thread only, as is:
  bool failed_ = false;
  std::thread thread_;
};

}  // namespace kin::server
