// The grouper of a newsroom, brought back from what the database keeps
// (docs/adr/0010-news-database.md).
#pragma once

#include <cstdint>

#include "base/result.h"
#include "stories/grouper.h"
#include "stories/newsroom/database.h"
#include "stories/settings.h"

namespace kin::stories {

// What a user corrected, as the log keeps it.
enum class CorrectionKind : std::uint8_t { kSeparate, kUnite };

// "Not this story" for an item whose stored story has others: the id of its own story. One that
// the grouper does not keep any more, or keeps alone, gets an id where nothing can join.
StoryId separate_in(Grouper& grouper, ItemId item);

// The grouper that goes on where the stored placements end: the last snapshot and a replay of the
// items and corrections that arrived after it. If there is no snapshot that can be read, or if the
// replay does not give what is stored (the program groups otherwise than the one that stored it, or
// its settings are others), the stored placements win: the open stories are adopted as they are,
// under their ids, and only what comes from now on is decided anew.
Result<Grouper> load_grouper(NewsDatabase& database, const Settings& settings);

// Stores a snapshot, as part of the running transaction, that holds everything which arrived before
// `next_arrival`.
Status save_grouper(NewsDatabase& database, const Grouper& grouper, std::uint64_t next_arrival);

// The number from which on arrivals are replayed.
Result<std::uint64_t> replayed_from(NewsDatabase& database);

// The story that is stored under `story`, which may be an alias.
Result<StoryId> stored_story(NewsDatabase& database, StoryId story);

// Is every item that the grouper keeps stored in the story it keeps it in?
Result<bool> agrees(NewsDatabase& database, const Grouper& grouper);

}  // namespace kin::stories
