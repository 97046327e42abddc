#include "stories/poller.h"

#include <algorithm>

namespace kin::stories {
namespace {

using std::chrono::milliseconds;

constexpr auto kSweepEvery = std::chrono::hours(24);
// Due times are wall-clock times, and the wall clock may be set: look again after a minute.
constexpr milliseconds kLongestWait = std::chrono::minutes(1);
// A feed stays due if its fetch was cancelled. The pause keeps that from becoming a busy loop.
constexpr milliseconds kShortestWait = milliseconds(200);
constexpr milliseconds kAfterFailure = std::chrono::seconds(30);

}  // namespace

Poller::Poller(Newsroom& newsroom, Clock& clock, PollerOptions options)
    : newsroom_(newsroom), clock_(clock), options_(std::move(options)) {}

void Poller::refresh(std::optional<FeedId> feed) {
  const std::lock_guard guard(lock_);
  asked_.all |= !feed;
  if (feed) asked_.feeds.insert(*feed);
}

StepOutcome Poller::step() {
  // Requests that come while the step runs are for the next one.
  Asked asked;
  {
    const std::lock_guard guard(lock_);
    asked = std::exchange(asked_, {});
  }
  Status done = poll_asked(asked);
  // Requested feeds come first: somebody is waiting for them.
  if (done.ok() && options_.automatic) done = poll_due();
  if (done.ok()) done = sweep_if_late();
  const auto wait = done.ok() ? time_to_next() : done.error();
  // Cancelled means that the program is ending.
  if (!wait && wait.error().code != Code::kCancelled && options_.on_problem)
    options_.on_problem(wait.error());
  return StepOutcome::not_before(clock_.steady_now() + (wait ? *wait : kAfterFailure));
}

Time Poller::now() const {
  return std::chrono::floor<std::chrono::seconds>(clock_.now());
}

Result<milliseconds> Poller::time_to_next() const {
  std::optional<Time> next = first_held_;
  if (options_.automatic) {
    KIN_TRY(const auto due, newsroom_.next_due());
    if (due && (!next || *due < *next)) next = due;
  }
  if (!next) return kLongestWait;
  return std::clamp<milliseconds>(*next - now(), kShortestWait, kLongestWait);
}

Time Poller::ready(const FollowedFeed& feed) const {
  // The wall clock may have been set back.
  if (!feed.polled || *feed.polled > now()) return now();
  return *feed.polled + options_.request_gap;
}

Status Poller::poll_asked(const Asked& asked) {
  held_.insert(asked.feeds.begin(), asked.feeds.end());
  if (held_.empty() && !asked.all) return Done{};
  KIN_TRY(const auto all, newsroom_.feeds());
  const std::set<FeedId> wanted = std::exchange(held_, {});
  first_held_.reset();
  std::vector<FeedId> feeds;
  // A feed that was removed in the meantime is not in the list.
  for (const FollowedFeed& feed : all) {
    if (!asked.all && !wanted.contains(feed.id)) continue;
    const Time time = ready(feed);
    if (time <= now()) {
      feeds.push_back(feed.id);
      continue;
    }
    held_.insert(feed.id);
    first_held_ = first_held_ ? std::min(*first_held_, time) : time;
  }
  if (feeds.empty()) return Done{};
  const auto refreshed = newsroom_.refresh(feeds);
  // A feed that was removed in the meantime is not a failure.
  if (!refreshed && refreshed.error().code != Code::kNotFound) return refreshed.error();
  return Done{};
}

Status Poller::poll_due() {
  KIN_TRY(const auto due, newsroom_.next_due());
  if (!due || *due > now()) return Done{};
  KIN_RETURN_IF_ERROR(newsroom_.refresh_due());
  return Done{};
}

Status Poller::sweep_if_late() {
  const Time time = now();
  if (swept_ && time - *swept_ < kSweepEvery) return Done{};
  // Before the sweep: if it fails, the next try is tomorrow's, not the next step's.
  swept_ = time;
  KIN_RETURN_IF_ERROR(newsroom_.sweep());
  return Done{};
}

}  // namespace kin::stories
