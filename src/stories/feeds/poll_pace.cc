#include "stories/feeds/poll_pace.h"

#include <algorithm>
#include <functional>

namespace kin::stories {
namespace {

using std::chrono::seconds;

// Until a feed has shown how often it changes.
constexpr seconds kUnknownGap = std::chrono::hours(2);
// Older items may date from a time when the feed was slower.
constexpr std::size_t kRecentItems = 20;

seconds scaled(seconds time, double factor) {
  return seconds(static_cast<std::int64_t>(static_cast<double>(time.count()) * factor));
}

// The mean time between the dates of the items.
void guess(PollPace& pace, const PollSight& sight) {
  pace.changed_at = sight.now;
  std::vector<Time> dates = sight.published;
  if (dates.empty()) return;
  std::sort(dates.begin(), dates.end(), std::greater<>());
  dates.resize(std::min(dates.size(), kRecentItems));
  // The newest item tells when the feed changed last.
  pace.changed_at = std::min(dates.front(), sight.now);
  if (dates.size() > 1)
    pace.change_gap = (dates.front() - dates.back()) / static_cast<std::int64_t>(dates.size() - 1);
}

void note_change(PollPace& pace, const PollSight& sight) {
  if (!pace.changed_at) return guess(pace, sight);
  const seconds gap = sight.now - *pace.changed_at;
  pace.change_gap =
      // An exponential average: about the last three changes count.
      pace.change_gap == seconds(0) ? gap : scaled(pace.change_gap, 0.7) + scaled(gap, 0.3);
  pace.changed_at = sight.now;
}

seconds wait_by_pace(const PollPace& pace, Time now) {
  seconds gap = pace.change_gap == seconds(0) ? kUnknownGap : pace.change_gap;
  // A feed that fell silent is polled ever less often.
  if (pace.changed_at) gap = std::max(gap, now - *pace.changed_at);
  return gap / 2;
}

seconds wait_by_failures(int failures, const PollBounds& bounds, Random& random) {
  // Keeps the shift from overflowing; the bound is reached long before.
  constexpr int kMostDoublings = 20;
  const int doublings = std::clamp(failures - 1, 0, kMostDoublings);
  const seconds wait = std::min(bounds.shortest * (1 << doublings), bounds.longest);
  // Spread out, so that feeds of one server do not all come back at once.
  return scaled(wait, 0.75 + random.unit() / 2);
}

}  // namespace

seconds next_wait(PollPace& pace, const PollSight& sight, const PollBounds& bounds,
                  Random& random) {
  seconds wait{0};
  if (sight.kind == PollSight::Kind::kFailed) {
    ++pace.failures;
    wait = wait_by_failures(pace.failures, bounds, random);
  } else {
    pace.failures = 0;
    if (sight.kind == PollSight::Kind::kChanged) note_change(pace, sight);
    wait = std::clamp(wait_by_pace(pace, sight.now), bounds.shortest, bounds.longest);
  }
  // The server's request counts even for a feed that changes often.
  wait = std::max(wait, sight.asked.value_or(seconds(0)));
  return std::clamp(scaled(wait, 1 + random.unit() / 10), bounds.shortest, bounds.longest);
}

}  // namespace kin::stories
