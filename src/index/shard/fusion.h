// What several legs found, as one list.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "index/query.h"

namespace kin::index {

struct LegHit {
  std::uint32_t number = 0;
  double score = 0;
  std::uint32_t rank = 0;  // from 1; 0: not found by the leg, but scored by it all the same
};

// Each number once; those with a rank in its order, then those without.
struct LegFound {
  LegKind leg = LegKind::kText;
  std::vector<LegHit> hits = {};
};

struct Fused {
  std::uint32_t number = 0;
  double score = 0;  // the sum of the shares of its legs
  std::vector<LegScore> legs = {};
};

// Best first; of equal scores the lower number first. The score of a single leg stays what it is.
// Of several, with kAlpha, each leg's scores become numbers from 0 to 1. 1 is the best of the leg,
// or, where that is less, a similarity of 1; 0 is no match of the text, nothing in reach of the
// graph, and a similarity of options.floor. Thread-safe.
std::vector<Fused> fuse(std::span<const LegFound> legs, const FusionOptions& options);

}  // namespace kin::index
