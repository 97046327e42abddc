#include "stories/grouping/similarity.h"

#include <algorithm>
#include <cmath>

namespace kin::stories {
namespace {

template <typename A>
Centroids::Near product(const std::vector<A>& a, const std::vector<CentroidTerm>& b) {
  Centroids::Near near;
  auto at = b.begin();
  for (const A& part : a) {
    at = std::lower_bound(at, b.end(), part.term,
                          [](const CentroidTerm& x, TermId term) { return x.term < term; });
    if (at == b.end()) break;
    if (at->term != part.term) continue;
    const double share = double{part.weight} * at->weight;
    near.product += share;
    near.largest = std::max(near.largest, share);
  }
  return near;
}

}  // namespace

double join_score(const Centroids::Near& near, const Centroid& centroid) {
  if (centroid.square <= 0) return 0;
  const bool only_term = near.product <= near.largest;
  const double discount = only_term ? kOnlyTermDiscount : kJoinDiscount;
  return (near.product - discount * near.largest) / std::sqrt(centroid.square);
}

double combined(double title_score, double text_score, const Settings& settings) {
  const double share = settings.summary_share;
  return std::max(title_score, (1 - share) * title_score + share * text_score);
}

Centroids::Near compare(const Centroid& a, const Centroid& b) {
  return product(a.terms, b.terms);
}

Centroids::Near compare(const TermVector& vector, const Centroid& centroid) {
  return product(vector, centroid.terms);
}

double merge_score(const Centroids::Near& near, const Centroid& a, const Centroid& b) {
  if (a.square <= 0 || b.square <= 0) return 0;
  return (near.product - kMergeDiscount * near.largest) / std::sqrt(a.square * b.square);
}

double faded(UnixSeconds gap, const Settings& settings) {
  const double scale = std::chrono::duration<double>(settings.fading).count();
  const double share = static_cast<double>(gap) / scale;
  return std::exp(-share * share / 2);
}

}  // namespace kin::stories
