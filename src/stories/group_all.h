// Groups a whole list of items at once, as if they had arrived in order of time.
#pragma once

#include <span>
#include <vector>

#include "base/result.h"
#include "stories/grouper.h"

namespace kin::stories {

// The placements of `items` when all have arrived and all repairs are done, in the order of
// `items`. Items of one time come in the order of the list. Ids must differ. Thread-safe.
Result<std::vector<Placement>> group_all(std::span<const Item> items, const Settings& settings);

}  // namespace kin::stories
