// Scores of an item and a story, and of two stories. Settings has the thresholds.
#pragma once

#include "stories/grouping/profiles.h"
#include "stories/item.h"
#include "stories/settings.h"

namespace kin::stories {

// The score of an item and a story: the cosine of their terms, more if they mean the same, less
// without evidence. The meaning of an item or story without a vector is empty. Thread-safe.
struct Joining {
  const Query& query;
  const MeaningSum& meaning;
  double chance = 1;  // Vocabulary::chance()
};
double join_score(const Joining& item, const Profiles::Match& match, const Profile& profile,
                  const Scoring& scoring);
// The factor for headlines of one column: Scoring::same_source if all of `profile` have the labels
// of `query`, and 1 without a label in common. Thread-safe.
double column_factor(const Query& query, const Profile& profile, const Scoring& scoring);
// The factor by which a score fades in this time.
double faded(UnixSeconds time, const Settings& settings);

// The score of two stories; `query` has the terms of one. Thread-safe.
double merge_score(const Joining& story, const Profiles::Match& match, const Profile& other,
                   const Scoring& scoring);

// The reach that an item or a story needs for a threshold.
Reach join_reach(const Settings& settings, const Joining& item);
Reach merge_reach(const Settings& settings, const Joining& story);

}  // namespace kin::stories
