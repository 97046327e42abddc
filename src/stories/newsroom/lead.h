// Chooses the headline that a timeline shows for a story.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string_view>

#include "base/result.h"
#include "stories/ids.h"
#include "stories/newsroom/database.h"

namespace kin::stories {

// False for titles that say little about a story: labels of a format ("Video: …"), titles of one or
// two words, addresses, titles that are cut off or shouted in capitals. Thread-safe.
bool is_good_headline(std::string_view title);

// The feeds and items that a timeline is restricted to.
struct Scope {
  std::optional<std::span<const FeedId>> feeds{};  // empty: all
  const std::set<std::int64_t>* items = nullptr;  // if given, only these items: a search found them
};

// The item that leads `story`: in the scope, the newest item of the most preferred source, else the
// newest with a good headline, else the newest. If no item is in the scope, all items count. The
// story must exist. One thread at a time.
Result<ItemId> lead_of(NewsDatabase& database, StoryId story, const Scope& scope);

}  // namespace kin::stories
