// Queries for feeds, timelines and stories.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "stories/feeds/fetcher.h"
#include "stories/newsroom.h"
#include "stories/newsroom/database.h"

namespace kin::stories {

Error no_such_feed(FeedId feed);
Error no_such_story(StoryId story);

// Each function reads one snapshot of the database. One thread at a time per connection.

// All feeds, sorted by folder and title.
Result<std::vector<FollowedFeed>> read_feeds(NewsDatabase& database);
// kNotFound if there is no such feed.
Result<FollowedFeed> read_feed(NewsDatabase& database, FeedId feed);
Result<std::optional<Favicon>> read_icon(NewsDatabase& database, FeedId feed);

// A feed to poll.
struct DueFeed {
  FeedId id{};
  Subscription subscription;
};
// The feeds that are due at `now`, the longest overdue first, without those that are gone.
Result<std::vector<DueFeed>> read_due_feeds(NewsDatabase& database, Time now);
// kNotFound if there is no such feed.
Result<DueFeed> read_subscription(NewsDatabase& database, FeedId feed);
// kFailedPrecondition if there is a feed with this address.
Status check_not_followed(NewsDatabase& database, const std::string& url);
Result<std::optional<Time>> read_next_due(NewsDatabase& database);

// kInvalidArgument if `before` is malformed, kNotFound if the feed does not exist.
Result<TimelinePage> read_timeline(NewsDatabase& database, const TimelineQuery& query);
// All unread stories that match the query, on all pages.
Result<std::vector<StoryId>> read_unread(NewsDatabase& database, const TimelineQuery& query);
// Stories on the same subject, the most related first. kNotFound if there is no such story.
Result<std::vector<RelatedStory>> read_related(NewsDatabase& database, StoryId story,
                                               std::size_t most);
// A story with all its items, by id or alias, led by a headline of the feed or folder in `scope`.
// kNotFound if there is none.
Result<StoryView> read_story(NewsDatabase& database, StoryId story, const TimelineQuery& scope);

}  // namespace kin::stories
