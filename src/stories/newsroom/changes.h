// The changes of one transaction to stories, with everything derived from them.
#pragma once

#include <set>
#include <vector>

#include "base/result.h"
#include "stories/grouper.h"
#include "stories/newsroom.h"
#include "stories/newsroom/database.h"

namespace kin::stories {

// Moves items between stories. finish() then updates derived data: counts, representatives,
// aliases, the rows that timelines read, unread counts. Lives within one transaction. One thread
// only.
class NewsChanges {
 public:
  explicit NewsChanges(NewsDatabase& database) : database_(database) {}

  // Adds a row for `story` if there is none; hidden if `like` is given and hidden.
  Status open_story(StoryId story, ItemId representative, StoryId like = kNoStory);
  Status move(ItemId item, StoryId to);
  // Merges two stories under the lower id, which is returned. The other id becomes an alias. A
  // hidden story that merges with a shown one is shown, and its items count as seen.
  Result<StoryId> merge(StoryId a, StoryId b);
  // Applies changes that the grouper made to earlier items.
  Status apply(const std::vector<Change>& changes);

  // `item` is new since `now`. If its story was read or hidden, finish() shows it again at the top
  // of the timeline, as unread.
  void announce(ItemId item, Time now);

  // Marks the items below `before` as seen and remembers them under the number `mark`, for undo.
  // False if all were seen already. Updates nothing else, so that marking very many stories is
  // fast.
  struct ReadMark {
    std::uint64_t number = 0;  // 0: not remembered
    ItemId before{};
  };
  Result<bool> mark_read(StoryId story, const ReadMark& mark);
  // Marks the items below `before` as seen. If others are not seen, the reader was not shown them:
  // they are news, as if they had joined the story afterwards.
  Status dismiss(StoryId story, ItemId before);
  // Marks all items as not seen.
  Status mark_unread(StoryId story);

  void touch(StoryId story) { stories_.insert(story); }
  // Call it if the feed's items, or its displayed data, changed.
  void touch(FeedId feed) { feeds_.insert(feed); }
  // Removes an item, and its story if that is empty. Touches the story and the feed.
  Status remove_item(ItemId item);

  // Updates everything derived. Call it last.
  Status finish();
  NewsEvent take_event() { return std::move(event_); }

 private:
  Status apply(const Change& change);
  Status bring_back(ItemId news);
  Status update_story(StoryId story);
  Status drop(StoryId story);
  Status represent(StoryId story);
  Status list(StoryId story);
  Status recount_feeds_of(StoryId story);
  Status recount(NewsQuery feeds);
  Status update_feeds();

  NewsDatabase& database_;
  std::set<StoryId> stories_;
  std::set<FeedId> feeds_;
  std::vector<ItemId> news_;
  Time now_{};                  // of the news
  std::set<FeedId> recounted_;  // only their unread counts changed
  NewsEvent event_;
};

// Removes the rows of a stored signature from `lsh_bands`.
Status remove_bands(NewsDatabase& database, ItemId item, std::string_view signature);
// The sketch of a stored signature; nothing if the bytes have the wrong length.
std::optional<TextSketch> sketch_of_bytes(std::string_view signature);

}  // namespace kin::stories
