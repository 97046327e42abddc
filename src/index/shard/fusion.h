// Fuses the results of several legs into one list.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "index/query.h"

namespace kin::index {

struct Fused {
  std::uint32_t document = 0;  // as the legs name it
  double score = 0;            // the sum of the shares of its legs
  std::vector<LegScore> legs = {};
};

// Best first; ties are broken by the lower document number. A single leg keeps its scores. With
// several legs and kAlpha, the scores of each leg are scaled to 0 to 1 before they are weighted: 1
// is the best score of the leg, or a similarity of 1 if that is more; 0 is no match, or a
// similarity of options.floor. Thread-safe.
std::vector<Fused> fuse_legs(std::span<const LegFound> legs, const FusionOptions& options);

}  // namespace kin::index
