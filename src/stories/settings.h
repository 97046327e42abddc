// Settings of grouping.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/result.h"

namespace kin::stories {

// Constants of the scores. docs/adr/0020-evidence-from-the-stream.md explains them.
struct Scoring {
  // Meaning adds `meaning` times the part of the vectors' cosine above `strangers`, the level that
  // unrelated headlines often have.
  double meaning = 0.5;
  double strangers = 0.2;
  // Factor of the terms where one side has no vector.
  double terms_alone = 1.6;
  // The evidence for a full score: between an item and a story, and between two stories.
  double evidence = 11;
  double merge_evidence = 3;
  // Share of the members' own lengths in the length of a story.
  double spread = 0.2;
  // Factor for an item of a source that the story has already, and for headlines of one column.
  double same_source = 0.55;
  // Stories whose last items are further apart are not merged.
  std::chrono::hours merge_within{10};
  // A story is over, and is not merged any more, if the other one went on for this long without it
  // and for some times its usual interval.
  std::chrono::hours pause{4};
  // Titles with a smaller share of frequent English words have no vector.
  double english = 0.1;
  friend bool operator==(const Scoring&, const Scoring&) = default;
};

// docs/benchmarks.md compares the defaults with what `kindred-bench stories --tune` chooses.
struct Settings {
  // A story without a new item for this long is closed: no item joins it.
  std::chrono::hours window{48};
  // Scores fade with the age of a story: to 37 % after this time.
  std::chrono::hours fading{60};
  // The score at which an item joins a story, and at which two stories are merged, with the dial in
  // the middle. Higher values give more and purer stories.
  double join_threshold = 0.20;
  double merge_threshold = 0.23;
  // From 0 (tight: more and purer stories) to 1 (loose). It moves both thresholds.
  double dial = 0.5;
  Scoring scoring{};
  // The Jaccard similarity of word pairs at which a text counts as republished.
  double copy_threshold = 0.7;
  // Sources whose items represent a story, the best first. Without one, the first item does.
  std::vector<std::string> preferred_sources{};
  // At most one item per source in a story, unless the items are the same page.
  bool one_per_source = false;

  // The thresholds as the dial moves them: from twice to half of their values.
  double join_score() const { return join_threshold * dial_factor(); }
  double merge_score() const { return merge_threshold * dial_factor(); }
  double dial_factor() const;
  friend bool operator==(const Settings&, const Settings&) = default;
};

// kInvalidArgument names the value that is out of range.
Status check(const Settings& settings);

}  // namespace kin::stories
