// Groups a whole list of items at once, in order of their publication.
#pragma once

#include <span>
#include <vector>

#include "base/result.h"
#include "stories/grouper.h"

namespace kin::stories {

// The final placements of `items`, in the order of the list. Items with the same time are added in
// the order of the list. kInvalidArgument if two items have one id. Thread-safe.
Result<std::vector<Placement>> group_all(std::span<const Item> items, const Settings& settings,
                                         const Grouper::Model& model = nullptr);

}  // namespace kin::stories
