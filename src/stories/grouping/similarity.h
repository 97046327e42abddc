// How like are an item and a story, or two stories? The numbers behind the thresholds of Settings.
#pragma once

#include "stories/grouping/centroids.h"
#include "stories/settings.h"

namespace kin::stories {

// A single term in common, however rare, is weak: "Apple" heads many stories, "gas prices" two. So
// the largest part of the inner product counts less than the others, and still less where it is all
// there is.
inline constexpr double kJoinDiscount = 0.25;
inline constexpr double kOnlyTermDiscount = 0.4;
inline constexpr double kMergeDiscount = 0.55;

// Titles and texts (title and summary together), each a cosine less the discount; a text is
// compared only where both sides have one, and can only add to what the titles say. Thread-safe.
double join_score(const Centroids::Near& titles, const Centroid& title);
double combined(double title_score, double text_score, const Settings& settings);

// The same for two centroids. Thread-safe.
Centroids::Near compare(const Centroid& a, const Centroid& b);
Centroids::Near compare(const TermVector& vector, const Centroid& centroid);
double merge_score(const Centroids::Near& near, const Centroid& a, const Centroid& b);

// What is left of a score after `gap` seconds, from 1 to 0. Thread-safe.
double faded(UnixSeconds gap, const Settings& settings);

}  // namespace kin::stories
