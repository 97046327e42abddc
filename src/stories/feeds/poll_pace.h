// How often to ask a feed: as often as it changes, and less when it fails.
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

// What is remembered of a feed's pace from one poll to the next.
struct PollPace {
  std::chrono::seconds change_gap{0};  // between changes, by what was seen; 0 if not known yet
  std::optional<Time> changed_at;      // when it last changed
  int failures = 0;                    // in a row
  friend bool operator==(const PollPace&, const PollPace&) = default;
};

// What one poll saw.
struct PollSight {
  enum class Kind { kChanged, kUnchanged, kFailed };
  Kind kind = Kind::kUnchanged;
  Time now = {};
  // What the server asks for: Retry-After, or how long its answer stays fresh.
  std::optional<std::chrono::seconds> asked = {};
  // When the items were published, as far as they say: the first guess of the pace.
  std::vector<Time> published = {};
};

// Takes a poll into account and says how long to wait for the next: half of the time between
// changes, or of the time without any if that is longer; after failures the shortest wait, doubled
// for each in a row, give or take a quarter; never less than the server asks for; all within the
// bounds. A little is added at random so that feeds do not come due together. Thread-safe.
std::chrono::seconds next_wait(PollPace& pace, const PollSight& sight, const PollBounds& bounds,
                               Random& random);

}  // namespace kin::stories
