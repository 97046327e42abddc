// How often to poll a feed: as often as it changes, and less often after failures.
#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "base/random.h"
#include "stories/date_parser.h"

namespace kin::stories {

struct PollBounds {
  std::chrono::seconds shortest = std::chrono::minutes(5);
  std::chrono::seconds longest = std::chrono::hours(24);
};

// State that is kept from one poll to the next.
struct PollPace {
  std::chrono::seconds change_gap{0};  // mean time between changes; 0: not known yet
  std::optional<Time> changed_at;      // time of the last change
  int failures = 0;                    // consecutive
  friend bool operator==(const PollPace&, const PollPace&) = default;
};

// The result of one poll.
struct PollSight {
  enum class Kind { kChanged, kUnchanged, kFailed };
  Kind kind = Kind::kUnchanged;
  Time now = {};
  // The wait that the server asked for: Retry-After, or the max-age of its answer.
  std::optional<std::chrono::seconds> asked = {};
  // Publication times of the items: the first estimate of change_gap.
  std::vector<Time> published = {};
};

// Updates `pace` with a poll and returns the time to wait for the next one: half of the time
// between changes, or half of the time since the last change if that is longer. After failures it
// is the shortest wait, doubled for each further one, plus or minus a quarter. It is at least what
// the server asked for, and within the bounds. A small random part spreads feeds out. Thread-safe.
std::chrono::seconds next_wait(PollPace& pace, const PollSight& sight, const PollBounds& bounds,
                               Random& random);

}  // namespace kin::stories
