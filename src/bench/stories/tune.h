// Chooses the settings of grouping.
#pragma once

#include <vector>

#include "bench/stories/stories.h"

namespace kin::bench {

// Groups every set with every setting of a grid. For each family of sets: the setting that is best
// on the other families, and its figures on that family. The last choice is the best on all. The
// best setting has, together with its neighbours in the grid, the highest mean F0.8.
Result<std::vector<StoriesFigures::Choice>> tune(const std::vector<LabelledSet>& sets,
                                                 const stories::Grouper::Model& model);

}  // namespace kin::bench
