// The tables of a newsroom's database, and migrations from older versions.
#pragma once

#include "base/result.h"
#include "stories/newsroom/database.h"

namespace kin::stories {

// The current version of the tables, stored in PRAGMA user_version.
int news_version();

// Migrates the tables to the current version, one version per transaction. kFailedPrecondition if
// they were written by a newer program.
Status migrate(NewsDatabase& database);

// For readers: kFailedPrecondition unless the tables have the current version.
Status check_version(NewsDatabase& database);

}  // namespace kin::stories
