// What one transaction does to stories, kept consistent.
#pragma once

#include <set>

#include "base/result.h"
#include "stories/grouper.h"
#include "stories/newsroom.h"
#include "stories/newsroom/database.h"

namespace kin::stories {

// Moves items between stories and, in settle(), brings everything that follows from it up to date:
// counts, representatives, aliases, what pages are read off, unread counts. One thread only, within
// one transaction.
class NewsChanges {
 public:
  explicit NewsChanges(NewsDatabase& database) : database_(database) {}

  // A row for `story` if it has none, with the marks of `like` if that is a story.
  Status open_story(StoryId story, ItemId representative, StoryId like = kNoStory);
  Status move(ItemId item, StoryId to);
  // One story out of two, and its id: the lower one. The other is an alias of it.
  Result<StoryId> merge(StoryId a, StoryId b);
  // What the grouper did to items that came before.
  Status apply(const std::vector<Change>& changes);

  // False if it was read already, or is not there. Nothing else of it changes, so that marking very
  // many is cheap.
  Result<bool> mark_read(StoryId story);

  void touch(StoryId story) { stories_.insert(story); }
  // Its items changed, or what is shown of it.
  void touch(FeedId feed) { feeds_.insert(feed); }
  // Its story goes when it was the last. Touches what needs it.
  Status remove_item(ItemId item);

  // Call last.
  Status settle();
  NewsEvent take_event() { return std::move(event_); }

 private:
  Status apply(const Change& change);
  Status settle(StoryId story);
  Status drop(StoryId story);
  Status represent(StoryId story);
  Status list(StoryId story);
  Status recount_feeds_of(StoryId story);
  Status settle_feeds();

  NewsDatabase& database_;
  std::set<StoryId> stories_;
  std::set<FeedId> feeds_;
  std::set<FeedId> recounted_;  // their unread counts alone
  NewsEvent event_;
};

// Removes the rows of `lsh_bands` that a signature, as it is stored, stands for.
Status remove_bands(NewsDatabase& database, ItemId item, std::string_view signature);
// A signature as it is stored, and back; nothing if it is none.
std::string signature_bytes(const TextSketch& sketch);
std::optional<TextSketch> sketch_of_bytes(std::string_view signature);

}  // namespace kin::stories
