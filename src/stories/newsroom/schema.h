// The tables of a newsroom's database, and how older ones become today's.
#pragma once

#include "base/result.h"
#include "stories/newsroom/database.h"

namespace kin::stories {

// PRAGMA user_version of today's tables.
int news_version();

// Brings the tables up to date, one version after the other, each in a transaction of its own.
// kFailedPrecondition if they are of a version that this program does not know yet.
Status migrate(NewsDatabase& database);

// For those who only read: an error unless the tables are today's.
Status check_version(NewsDatabase& database);

}  // namespace kin::stories
