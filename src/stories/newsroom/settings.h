// What the user chose about grouping, kept with the feeds.
#pragma once

#include "base/result.h"
#include "stories/newsroom/database.h"
#include "stories/settings.h"

namespace kin::stories {

// What is stored, and `otherwise` where nothing is. kDataLoss if what is stored makes no sense.
Result<Settings> load_settings(NewsDatabase& database, Settings otherwise);

// Within a transaction of the caller's. `settings` must pass check().
Status store_settings(NewsDatabase& database, const Settings& settings);

}  // namespace kin::stories
