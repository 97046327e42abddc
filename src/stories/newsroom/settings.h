// Settings of grouping, stored in the database.
#pragma once

#include "base/result.h"
#include "stories/newsroom/database.h"
#include "stories/settings.h"

namespace kin::stories {

// The stored settings; `otherwise` if none are stored. kDataLoss if they are invalid.
Result<Settings> load_settings(NewsDatabase& database, Settings otherwise);

// Stores settings within the caller's transaction. `settings` must pass check().
Status store_settings(NewsDatabase& database, const Settings& settings);

}  // namespace kin::stories
