#include "index/shard/fusion.h"

#include <algorithm>
#include <map>

namespace kin::index {
namespace {

// From Cormack, Clarke and Büttcher 2009. It keeps the first ranks from outweighing all others.
constexpr double kRankOffset = 60;

// Turns the scores of a leg into shares of the hit's score.
struct Scale {
  double floor = 0;
  double width = 1;
  double weight = 1;

  double share(double score) const {
    return weight * std::clamp((score - floor) / width, 0.0, 1.0);
  }
};

Scale scale_of(const LegFound& found, double weight, const FusionOptions& options) {
  double best = 0;
  for (const LegHit& hit : found.hits) best = std::max(best, hit.score);
  if (found.leg != LegKind::kVector) return {.width = best > 0 ? best : 1, .weight = weight};
  return {.floor = options.floor, .width = std::max(best, 1.0) - options.floor, .weight = weight};
}

double weight_of(LegKind leg, std::span<const LegFound> legs, const FusionOptions& options) {
  const auto has = [&](LegKind kind) {
    return std::ranges::any_of(legs, [&](const LegFound& one) { return one.leg == kind; });
  };
  const double graph = has(LegKind::kGraph) ? options.graph : 0;
  if (leg == LegKind::kGraph) return graph;
  // If only one of text and vector is present, it gets the weight of both.
  const bool both = has(LegKind::kText) && has(LegKind::kVector);
  const double part = leg == LegKind::kVector ? options.alpha : 1 - options.alpha;
  return (1 - graph) * (both ? part : 1);
}

}  // namespace

std::vector<Fused> fuse_legs(std::span<const LegFound> legs, const FusionOptions& options) {
  std::map<std::uint32_t, Fused> by_document;  // in order, so that a stable sort breaks ties
  for (const LegFound& found : legs) {
    const Scale scale = scale_of(found, weight_of(found.leg, legs, options), options);
    for (const LegHit& hit : found.hits) {
      double share = hit.score;
      if (legs.size() > 1)
        share = options.how == Fusion::kAlpha ? scale.share(hit.score)
                : hit.rank == 0               ? 0
                                              : 1 / (kRankOffset + hit.rank);
      Fused& fused = by_document[hit.document];
      fused.document = hit.document;
      fused.score += share;
      fused.legs.push_back(
          {.leg = found.leg, .score = hit.score, .share = share, .rank = hit.rank});
    }
  }
  std::vector<Fused> all;
  for (auto& [document, fused] : by_document) all.push_back(std::move(fused));
  std::ranges::stable_sort(all, std::ranges::greater(), &Fused::score);
  return all;
}

}  // namespace kin::index
