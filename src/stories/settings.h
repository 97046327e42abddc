// What a user can choose about grouping.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/result.h"

namespace kin::stories {

// The defaults were tuned on the first half of the headlines of docs/benchmarks.md.
struct Settings {
  // A story that got no item for so long is closed: nothing joins it any more.
  std::chrono::hours window{72};
  // How fast a story's pull fades: to 61 % after this time, to 14 % after twice of it.
  std::chrono::hours fading{48};
  // The score from which an item joins a story, and from which two stories are one. Higher makes
  // more and purer stories.
  double join_threshold = 0.13;
  double merge_threshold = 0.16;
  // Estimated Jaccard similarity of pairs of words from which a text counts as republished.
  double copy_threshold = 0.7;
  // How much the words of summaries count beside those of titles, where both sides have one.
  double summary_share = 0.4;
  // Sources whose item represents a story, the best first. Otherwise its first item does.
  std::vector<std::string> preferred_sources{};
  // A second item of one source opens a story of its own, unless it is the same page.
  bool one_per_source = false;
  friend bool operator==(const Settings&, const Settings&) = default;
};

// An error that says which value makes no sense.
Status check(const Settings& settings);

}  // namespace kin::stories
