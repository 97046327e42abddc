// Scores of an item and a story, and of two stories. Settings has the thresholds.
#pragma once

#include "stories/grouping/centroids.h"
#include "stories/settings.h"

namespace kin::stories {

// One common term is weak evidence, even a rare one: "Apple" is in many stories. So the largest
// part of the inner product is discounted, and more if it is the only part.
inline constexpr double kJoinDiscount = 0.25;
inline constexpr double kOnlyTermDiscount = 0.4;
inline constexpr double kMergeDiscount = 0.55;

// Scores of titles and of texts (title and summary together): a cosine minus the discount. Texts
// are compared only if both sides have a summary, and can only raise the score. Thread-safe.
double join_score(const Centroids::Near& titles, const Centroid& title);
double combined(double title_score, double text_score, const Settings& settings);

// The same for two stories. Thread-safe.
Centroids::Near compare(const Centroid& a, const Centroid& b);
Centroids::Near compare(const TermVector& vector, const Centroid& centroid);
double merge_score(const Centroids::Near& near, const Centroid& a, const Centroid& b);

// The factor from 1 to 0 by which a score fades after `gap` seconds. Thread-safe.
double faded(UnixSeconds gap, const Settings& settings);

}  // namespace kin::stories
