// Does everything that a newsroom keeps agree with everything else?
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "stories/grouper.h"
#include "stories/newsroom/database.h"

namespace kin::stories {

// What contradicts itself, in plain words; nothing if all is well. `grouper` is compared with what
// is stored; nullptr to leave it out. An error means that it could not be told.
Result<std::vector<std::string>> audit(NewsDatabase& database, const Grouper* grouper);

}  // namespace kin::stories
