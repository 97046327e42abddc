#include "index/shard_fusion.h"

#include <algorithm>
#include <map>

namespace kin::index {
namespace {

constexpr double kRankOffset = 60;

// From a leg's scores to their shares.
struct Scale {
  double floor = 0;
  double width = 0;  // 0: all the same
  double weight = 1;

  double share(double score) const {
    if (width <= 0) return score >= floor ? weight : 0;
    return weight * std::clamp((score - floor) / width, 0.0, 1.0);
  }
};

Scale scale_of(const LegFound& found, double weight) {
  const auto is_ranked = [](const LegHit& hit) { return hit.rank != 0; };
  const auto ranked = std::ranges::count_if(found.hits, is_ranked);
  // Nothing but what others found: there is no telling how good that is.
  if (ranked == 0) return {.weight = 0};
  const double best = found.hits.front().score;
  const double floor =
      found.leg == LegKind::kVector ? found.hits[static_cast<std::size_t>(ranked) - 1].score : 0;
  return {.floor = floor, .width = best - floor, .weight = weight};
}

double weight_of(LegKind leg, std::span<const LegFound> legs, const FusionOptions& options) {
  const auto has = [&](LegKind kind) {
    return std::ranges::any_of(legs, [&](const LegFound& one) { return one.leg == kind; });
  };
  const double graph = has(LegKind::kGraph) ? options.graph : 0;
  if (leg == LegKind::kGraph) return graph;
  const bool both = has(LegKind::kText) && has(LegKind::kVector);
  const double part = leg == LegKind::kVector ? options.alpha : 1 - options.alpha;
  return (1 - graph) * (both ? part : 1);
}

}  // namespace

std::vector<Fused> fuse(std::span<const LegFound> legs, const FusionOptions& options) {
  std::map<std::uint32_t, Fused> by_number;
  for (const LegFound& found : legs) {
    const Scale scale = scale_of(found, weight_of(found.leg, legs, options));
    for (const LegHit& hit : found.hits) {
      double share = hit.score;
      if (legs.size() > 1)
        share = options.how == Fusion::kAlpha ? scale.share(hit.score)
                : hit.rank == 0               ? 0
                                              : 1 / (kRankOffset + hit.rank);
      Fused& fused = by_number[hit.number];
      fused.number = hit.number;
      fused.score += share;
      fused.legs.push_back(
          {.leg = found.leg, .score = hit.score, .share = share, .rank = hit.rank});
    }
  }
  std::vector<Fused> all;
  for (auto& [number, fused] : by_number) all.push_back(std::move(fused));
  std::ranges::stable_sort(all, std::ranges::greater(), &Fused::score);
  return all;
}

}  // namespace kin::index
