// Settings of grouping.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/result.h"

namespace kin::stories {

// The defaults were tuned on the first half of the headlines of docs/benchmarks.md.
struct Settings {
  // A story without a new item for this long is closed: no item joins it.
  std::chrono::hours window{72};
  // Scores fade with the age of a story: to 61 % after this time, to 14 % after twice this time.
  std::chrono::hours fading{48};
  // The score at which an item joins a story, and at which two stories are merged. Higher values
  // give more and purer stories.
  double join_threshold = 0.13;
  double merge_threshold = 0.16;
  // The Jaccard similarity of word pairs at which a text counts as republished.
  double copy_threshold = 0.7;
  // The weight of summaries beside titles, if both sides have a summary.
  double summary_share = 0.4;
  // Sources whose items represent a story, the best first. Without one, the first item does.
  std::vector<std::string> preferred_sources{};
  // At most one item per source in a story, unless the items are the same page.
  bool one_per_source = false;
  friend bool operator==(const Settings&, const Settings&) = default;
};

// kInvalidArgument names the value that is out of range.
Status check(const Settings& settings);

}  // namespace kin::stories
