// Feeds, their items and their stories, in a database: everything a feed reader needs.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "embed/embedder.h"
#include "net/http_client.h"
#include "stories/feeds/favicon.h"
#include "stories/feeds/fetcher.h"
#include "stories/ids.h"
#include "stories/opml.h"
#include "stories/settings.h"
#include "stories/story.h"

namespace kin::stories {

// A feed that the user follows. Texts are plain text and must be escaped for display.
struct FollowedFeed {
  FeedId id{};
  std::string url;
  std::string title;   // the user's, else the feed's, else its address
  std::string site;    // may be empty
  std::string folder;  // levels are separated by '/'; empty: no folder
  bool grouped = true;
  bool has_icon = false;
  bool gone = false;  // the server answered 410: not polled any more
  std::optional<Time> polled{};
  std::optional<Time> next_poll{};
  std::string problem{};  // error of the last poll; empty if it succeeded
  std::uint64_t items = 0;
  std::uint64_t unread = 0;   // unread stories with an item of this feed
  std::uint64_t starred = 0;  // starred stories with an item of this feed
};

// A stored item as shown in its story.
struct ItemView {
  ItemId id{};
  FeedId feed{};
  std::string source;  // the feed's title; the feed itself may have been removed
  std::string title;
  std::string url;      // http or https; may be empty
  std::string summary;  // may be empty
  std::string author;   // may be empty
  Time published{};
  double similarity = 1;
  Tier tier = Tier::kOpened;
  bool seen = false;  // the reader marked its story as read after it had arrived
};

// A stored story as shown in a timeline.
struct StoryView {
  StoryId id = kNoStory;
  // The headline to show: the newest good one in the scope that was asked for, from a preferred
  // source if there is one.
  ItemView representative;
  // The other items, the newest first; in a timeline at most `TimelineQuery::most_others`.
  std::vector<ItemView> others;
  std::uint64_t count = 0;    // of all items, including the representative
  std::uint64_t sources = 0;  // number of different feeds
  Time first{};
  Time last{};
  // Decides the place in the timeline: `last`, or when news joined after it was read or hidden.
  Time at{};
  ItemId bound{};  // the ids of its items are below it
  bool read = false;
  // Items that arrived after the story was read; 0 if it is read, or was never read.
  std::uint64_t news = 0;
  bool starred = false;
  bool hidden = false;
  // An older, closed story with the same text.
  std::optional<StoryId> repeats{};
};

// A story that is about the same subject as another.
struct RelatedStory {
  StoryId id = kNoStory;
  std::string title;  // the headline to show
  std::uint64_t count = 0;
  std::uint64_t sources = 0;
  Time last{};
};

struct TimelineQuery {
  std::size_t limit = 50;  // at most 200
  std::string before{};    // TimelinePage::next of the page before; empty: the first page
  std::optional<FeedId> feed{};
  std::string folder{};  // with its sub-folders
  std::string text{};    // words that an item must have; the last one may be a prefix
  bool unread_only = false;
  bool starred_only = false;     // includes hidden stories
  bool hidden_only = false;      // hidden stories are not shown otherwise
  std::size_t most_others = 20;  // of each story
};

// A word of TimelineQuery::text as it is compared: in lower case, without accents. A word of a
// script without spaces is a phrase.
struct SearchedWord {
  std::string text;
  bool prefix = false;  // words that begin with it match too
};

struct TimelinePage {
  std::vector<StoryView> stories;  // the story with the newest item first
  std::string next;                // for the next page; empty if this is the last one
  std::uint64_t unread = 0;        // unread stories that match the query, ignoring `text`
  ItemId bound{};                  // the ids of all items that had arrived are below it
  // The words that were searched for; very common words are left out.
  std::vector<SearchedWord> words{};
};

struct NewFeed {
  std::string url;      // of the feed, or of a page that links to it
  std::string title{};  // empty: the feed's own title
  std::string folder{};
  net::Credentials credentials{};
  bool grouped = true;
};

struct FeedEdit {
  std::optional<std::string> title{};
  std::optional<std::string> folder{};
  std::optional<bool> grouped{};
};

struct StoryEdit {
  std::optional<bool> read{};
  // The reader was shown only items below it. Later items stay unread, and a story that has such
  // items is not hidden: the result is the same whether the news or the edit came first.
  std::optional<ItemId> before{};
  std::optional<bool> starred{};
  std::optional<bool> hidden{};
};

struct MarkedRead {
  std::uint64_t stories = 0;  // that were unread
  std::uint64_t undo = 0;     // for undo_mark()
};

// The fate of a removed feed's items that are in starred stories.
enum class StarredItems { kKeep, kRemove };

struct Import {
  std::uint64_t added = 0;
  std::uint64_t already = 0;
  std::uint64_t left_out = 0;
};

// A change that a display of stories must show. Ids are valid after the change.
struct NewsEvent {
  std::vector<StoryId> changed{};  // new or changed stories
  // A story that was merged or removed.
  struct Gone {
    StoryId story = kNoStory;
    StoryId into = kNoStory;  // kNoStory: it was removed
  };
  std::vector<Gone> gone{};
  std::vector<FeedId> feeds{};  // added, removed, renamed, polled
};

struct NewsOptions {
  Settings grouping{};  // used until change_settings() stores others
  // Vectors of what headlines mean, for grouping; may be null. Opened for writing only.
  std::shared_ptr<const embed::Embedder> model{};
  net::HttpOptions http{};
  FetchOptions fetching{};
  // sweep() removes stories whose items are all older than this, unless the story is starred or an
  // item is still in its feed (it would come back as new).
  std::chrono::hours retention{24 * 90};
  // Seed of the random part in the time between polls.
  std::uint64_t seed = 0;
};

// Every change is durable when its call returns. One process at a time may open a folder for
// writing; any number may read it with open_for_reading() at the same time. Thread-safe.
//
// Ids of stories stay valid: a merged story is found under its old id as well. Decisions of the
// user are kept: a separated item does not return to its story, and united stories stay united.
//
// News are never lost: an item that joins a story which was read or hidden makes it unread, shows
// it and lifts it to the top. Seen items are recorded one by one, so merges and splits keep them.
class Newsroom {
 public:
  // Opens the folder, or creates it. kFailedPrecondition if another process has it open for
  // writing. `clock` must outlive it.
  static Result<std::unique_ptr<Newsroom>> open(const std::filesystem::path& folder, Clock& clock,
                                                NewsOptions options = {});
  // Read-only access: calls that change something fail with kFailedPrecondition. kNotFound if the
  // folder has no database.
  static Result<std::unique_ptr<Newsroom>> open_for_reading(const std::filesystem::path& folder);
  ~Newsroom();

  // Finds the feed at the address, polls it once and follows it. kFailedPrecondition if it is
  // followed already.
  Result<FollowedFeed> add_feed(const NewFeed& feed);
  Result<std::vector<FollowedFeed>> feeds() const;
  Result<FollowedFeed> feed(FeedId id) const;
  Result<FollowedFeed> edit_feed(FeedId id, const FeedEdit& edit);
  // Removes the feed with its items, and stories that are empty then. Starred stories keep theirs
  // unless `starred` says otherwise.
  Status remove_feed(FeedId id, StarredItems starred = StarredItems::kKeep);
  // Nothing if the feed has no icon.
  Result<std::optional<Favicon>> icon(FeedId id) const;

  Result<Import> import_opml(std::string_view bytes);
  Result<std::string> export_opml() const;

  Result<TimelinePage> timeline(const TimelineQuery& query) const;
  // A story with all items, the oldest first in `others`. By its id, or an id that was merged into
  // it. kNotFound if there is none. It leads with a headline of the feed or folder in `scope`.
  Result<StoryView> story(StoryId id, const TimelineQuery& scope = {}) const;
  // Up to `most` stories on the same subject that are not the same event, the most related first.
  Result<std::vector<RelatedStory>> related(StoryId id, std::size_t most = 5) const;
  Result<StoryView> edit_story(StoryId id, const StoryEdit& edit);
  // Marks all stories that match the query as read, on all pages. If `before` is given, only their
  // items below it: items that arrived after the reader's timeline was made stay unread.
  Result<MarkedRead> mark_read(const TimelineQuery& query,
                               std::optional<ItemId> before = std::nullopt);
  // Undoes one of the last ten mark_read() calls. Returns the number of stories that are unread
  // again. kNotFound if `mark` is not one of them, or was undone.
  Result<std::uint64_t> undo_mark(std::uint64_t mark);

  // "Not this story": moves the item to a new story, which is returned.
  Result<StoryView> separate(ItemId item);
  // "Same story": merges the two and returns the result.
  Result<StoryView> unite(StoryId a, StoryId b);

  Result<Settings> settings() const;
  // Stores settings and uses them for new items. Existing stories stay as they are.
  Status change_settings(const Settings& settings);

  struct Refresh {
    std::uint64_t polled = 0;
    std::uint64_t failed = 0;
    std::uint64_t items = 0;  // new items
  };
  // Polls the feeds that are due, or the given ones, and fetches missing icons. Items are stored as
  // each feed answers. Concurrent calls wait for each other.
  Result<Refresh> refresh_due();
  Result<Refresh> refresh(std::span<const FeedId> feeds);
  // The time at which the next feed is due; nothing if there are no feeds.
  Result<std::optional<Time>> next_due() const;
  // Removes old stories (NewsOptions::retention). Returns the number of removed items.
  Result<std::uint64_t> sweep();
  // Cancels running and future fetches.
  void cancel();
  // Checks the whole database and describes each inconsistency. Finds none unless the file was
  // damaged or changed by another program. Takes seconds for a large database.
  Result<std::vector<std::string>> check() const;

  // `listener` is called after each change, on the thread that made it, and must not call the
  // newsroom. Returns a number for stop_listening(), which waits until no call is running.
  using Listener = std::function<void(const NewsEvent&)>;
  std::uint64_t listen(Listener listener);
  void stop_listening(std::uint64_t number);

 private:
  struct State;
  explicit Newsroom(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace kin::stories
