// Consistency check of a newsroom's database.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "stories/grouper.h"
#include "stories/newsroom/database.h"

namespace kin::stories {

// Returns a description of each inconsistency; empty if there is none. Compares `grouper` with the
// stored stories unless it is nullptr. An error means that the check could not be done.
Result<std::vector<std::string>> audit(NewsDatabase& database, const Grouper* grouper);

}  // namespace kin::stories
