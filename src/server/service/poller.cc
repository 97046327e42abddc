#include "server/service/poller.h"

#include <algorithm>

namespace kin::server {
namespace {

using std::chrono::milliseconds;

constexpr auto kSweepEvery = std::chrono::hours(24);
// A clock may be set, so no wait is longer; and nothing that fails is tried without a pause.
constexpr milliseconds kLongestWait = std::chrono::minutes(1);
constexpr milliseconds kShortestWait = milliseconds(200);
constexpr milliseconds kAfterFailure = std::chrono::seconds(30);

}  // namespace

Poller::Poller(stories::Newsroom& newsroom, PollerOptions options)
    : newsroom_(newsroom), options_(std::move(options)), thread_([this] { run(); }) {}

Poller::~Poller() {
  stop();
}

void Poller::refresh(std::optional<stories::FeedId> feed) {
  const std::lock_guard guard(lock_);
  if (feed) {
    asked_.feeds.insert(*feed);
  } else {
    asked_.all = true;
  }
  changed_.notify_all();
}

void Poller::wake() {
  const std::lock_guard guard(lock_);
  woken_ = true;
  changed_.notify_all();
}

void Poller::stop() {
  {
    const std::lock_guard guard(lock_);
    stopped_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

stories::Time Poller::now() const {
  if (options_.clock) return options_.clock();
  return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
}

void Poller::run() {
  while (const auto work = await_work()) {
    Status done = poll(*work);
    if (done.ok()) done = sweep_if_late();
    failed_ = !done.ok();
    if (failed_ && done.error().code != Code::kCancelled && options_.on_problem)
      options_.on_problem(done.error());
  }
}

std::optional<Poller::Work> Poller::await_work() {
  const milliseconds patience = time_to_next();
  std::unique_lock guard(lock_);
  const auto is_asked = [this] {
    return stopped_ || woken_ || asked_.all || !asked_.feeds.empty();
  };
  const bool asked = changed_.wait_for(guard, patience, is_asked);
  if (stopped_) return std::nullopt;
  Work work = std::exchange(asked_, {});
  work.due = options_.automatic && (!asked || woken_);
  woken_ = false;
  return work;
}

milliseconds Poller::time_to_next() {
  if (failed_) return kAfterFailure;
  if (!options_.automatic) return kLongestWait;
  const auto due = newsroom_.next_due();
  if (!due) return kAfterFailure;
  if (!*due) return kLongestWait;
  return std::clamp<milliseconds>(**due - now(), kShortestWait, kLongestWait);
}

Status Poller::poll(const Work& work) {
  if (work.all || !work.feeds.empty()) {
    std::vector<stories::FeedId> feeds(work.feeds.begin(), work.feeds.end());
    if (work.all) {
      feeds.clear();
      KIN_TRY(const auto all, newsroom_.feeds());
      for (const stories::FollowedFeed& feed : all) feeds.push_back(feed.id);
    }
    const auto refreshed = newsroom_.refresh(feeds);
    // One that was removed in the meantime is no failure.
    if (!refreshed && refreshed.error().code != Code::kNotFound) return refreshed.error();
  }
  if (!work.due) return Done{};
  KIN_TRY(const auto due, newsroom_.next_due());
  if (!due || *due > now()) return Done{};
  const auto refreshed = newsroom_.refresh_due();
  if (!refreshed) return refreshed.error();
  return Done{};
}

Status Poller::sweep_if_late() {
  const stories::Time time = now();
  if (swept_ && time - *swept_ < kSweepEvery) return Done{};
  swept_ = time;
  const auto swept = newsroom_.sweep();
  if (!swept) return swept.error();
  return Done{};
}

}  // namespace kin::server
