// What a newsroom shows, read from its database.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "stories/feeds/fetcher.h"
#include "stories/newsroom.h"
#include "stories/newsroom/database.h"

namespace kin::stories {

// All of these read one state of the database, whatever is written meanwhile. One thread at a time
// on one connection.

// By folder and title.
Result<std::vector<FollowedFeed>> read_feeds(NewsDatabase& database);
// kNotFound if there is none.
Result<FollowedFeed> read_feed(NewsDatabase& database, FeedId feed);
Result<std::optional<Favicon>> read_icon(NewsDatabase& database, FeedId feed);

// What to ask for, and with what.
struct DueFeed {
  FeedId id{};
  Subscription subscription;
};
// Those due at `now`, the longest overdue first; gone ones are not.
Result<std::vector<DueFeed>> read_due_feeds(NewsDatabase& database, Time now);
// Nothing if there is no such feed.
Result<std::optional<DueFeed>> read_subscription(NewsDatabase& database, FeedId feed);
Result<std::optional<Time>> read_next_due(NewsDatabase& database);

// kInvalidArgument for a `before` that is none, kNotFound for a feed that is not followed.
Result<TimelinePage> read_timeline(NewsDatabase& database, const TimelineQuery& query);
// All that the query shows, on all pages, and that are not read.
Result<std::vector<StoryId>> read_unread(NewsDatabase& database, const TimelineQuery& query);
// With all items; by its id or an alias. kNotFound.
Result<StoryView> read_story(NewsDatabase& database, StoryId story);

}  // namespace kin::stories
