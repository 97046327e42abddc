// Loads and stores the grouper of a newsroom (docs/adr/0010-news-database.md).
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "stories/grouper.h"
#include "stories/newsroom/database.h"
#include "stories/settings.h"

namespace kin::stories {

// A correction by the user, as it is logged.
enum class CorrectionKind : std::uint8_t { kSeparate, kUnite };

// "Not this story" for an item whose stored story has other items. Returns the id of its new story.
// If the grouper no longer has the item, or has it alone, the new story takes no further items.
StoryId separate_in(Grouper& grouper, ItemId item);

// Restores the grouper from the last snapshot and a replay of the items and corrections after it.
// The stored placements win: if there is no readable snapshot, or the replay gives other placements
// (the program, its settings or its word vectors changed), the open stories are adopted as stored,
// under their ids.
Result<Grouper> load_grouper(NewsDatabase& database, const Settings& settings,
                             const Grouper::Model& model);

// Stores a snapshot of all arrivals before `next_arrival`, within the running transaction.
Status save_grouper(NewsDatabase& database, const Grouper& grouper, std::uint64_t next_arrival);

// The first arrival that load_grouper() replays.
Result<std::uint64_t> replayed_from(NewsDatabase& database);

// A number that the database counts on: 'next_story', 'next_arrival' or 'banded_to'. 1 at first.
Result<std::uint64_t> read_counter(NewsDatabase& database, std::string_view name);

// The stored story of an id or alias.
Result<StoryId> stored_story(NewsDatabase& database, StoryId story);

// True if every item of the grouper is stored in the same story.
Result<bool> agrees(NewsDatabase& database, const Grouper& grouper);

}  // namespace kin::stories
