// Feeds, their items and the stories these make: what is stored, what is shown, what is corrected.
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

#include "base/result.h"
#include "net/http_client.h"
#include "stories/feeds/favicon.h"
#include "stories/feeds/fetcher.h"
#include "stories/ids.h"
#include "stories/opml.h"
#include "stories/settings.h"
#include "stories/story.h"

namespace kin::stories {

// A feed the user follows. All texts are plain text: escape them when they are shown.
struct FollowedFeed {
  FeedId id{};
  std::string url;
  std::string title;   // the user's, else the feed's, else its address
  std::string site;    // may be empty
  std::string folder;  // "" for none; levels are parted by '/'
  bool grouped = true;
  bool has_icon = false;
  bool gone = false;  // its server said for good: it is not asked any more
  std::optional<Time> polled{};
  std::optional<Time> next_poll{};
  std::string problem{};  // why the last poll failed; empty if it did not
  std::uint64_t items = 0;
  std::uint64_t unread = 0;  // stories with an item of this feed that are not read
};

// One headline of a story.
struct Entry {
  ItemId id{};
  FeedId feed{};
  std::string title;
  std::string url;      // http or https; may be empty
  std::string summary;  // may be empty
  std::string author;   // may be empty
  Time published{};
  bool is_representative = false;
  double similarity = 1;
  Tier tier = Tier::kOpened;
};

struct StoryView {
  StoryId id = kNoStory;
  Entry representative;
  // The others, the newest first: in a timeline no more than `TimelineQuery::entries`.
  std::vector<Entry> others;
  std::uint64_t count = 0;    // of all items, with the representative
  std::uint64_t sources = 0;  // feeds among them
  Time first{};
  Time last{};
  bool read = false;
  bool starred = false;
  bool hidden = false;
  // The story that told the same in the same words, long enough ago not to be joined any more.
  std::optional<StoryId> repeats{};
};

struct TimelineQuery {
  std::size_t limit = 50;  // at most 200
  std::string before{};    // TimelinePage::next of the page above; empty for the top
  std::optional<FeedId> feed{};
  std::string folder{};  // and those within it
  std::string text{};    // words that one of the items has; the last may be unfinished
  bool unread_only = false;
  bool starred_only = false;  // hidden stories are shown only here
  std::size_t entries = 20;   // of each story's others
};

struct TimelinePage {
  std::vector<StoryView> stories;  // the one with the newest item first
  std::string next;                // empty if there is nothing below
  std::uint64_t unread = 0;        // stories that match the query (but for `text`), not read
};

struct NewFeed {
  std::string url;      // of the feed, or of a page that names one
  std::string title{};  // empty to take the feed's own
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
  std::optional<bool> starred{};
  std::optional<bool> hidden{};
};

struct Import {
  std::uint64_t added = 0;
  std::uint64_t already = 0;
  std::uint64_t left_out = 0;
};

// What happened, for whoever shows it. Ids are those after the change.
struct NewsEvent {
  std::vector<StoryId> changed{};  // new, grown, or edited
  // Stories that are gone: part of another now, or nothing.
  struct Gone {
    StoryId story = kNoStory;
    StoryId into = kNoStory;  // kNoStory if nothing is left of it
  };
  std::vector<Gone> gone{};
  std::vector<FeedId> feeds{};  // added, removed, renamed, polled
};

struct NewsOptions {
  Settings grouping{};  // until change_settings() stored others
  net::HttpOptions http{};
  FetchOptions fetching{};
  // Items older than this go, with their stories, unless a story is starred, has a newer item, or
  // one that its feed still shows (it would come back as new).
  std::chrono::hours retention{24 * 90};
  // Where time comes from; the system's clock unless told.
  std::function<Time()> clock{};
};

// Thread-safe. Everything a call did is durable when it returns, and after a crash each story, read
// mark and correction is as it was last acknowledged. One process at a time may open a folder for
// writing; readers (`open_for_reading`) come beside it at any time.
//
// A story's id stays valid: one that became part of another is found under its old id as well.
// What the user decided stays decided: a separated item does not come back, united stories stay
// one, a story that was read stays read when items join it.
class Newsroom {
 public:
  // Opens what `folder` keeps, or starts it. Items are grouped on from where they were left.
  static Result<std::unique_ptr<Newsroom>> open(const std::filesystem::path& folder,
                                                NewsOptions options = {});
  // For a look at what is there: every call that would change something fails. kNotFound if there
  // is nothing.
  static Result<std::unique_ptr<Newsroom>> open_for_reading(const std::filesystem::path& folder);
  ~Newsroom();

  // Looks at the address, finds the feed, polls it once and follows it. kFailedPrecondition if it
  // is followed already.
  Result<FollowedFeed> add_feed(const NewFeed& feed);
  Result<std::vector<FollowedFeed>> feeds() const;
  Result<FollowedFeed> feed(FeedId id) const;
  Result<FollowedFeed> edit_feed(FeedId id, const FeedEdit& edit);
  // With its items. Stories that are left without any go too.
  Status remove_feed(FeedId id);
  // Nothing if it has none.
  Result<std::optional<Favicon>> icon(FeedId id) const;

  Result<Import> import_opml(std::string_view bytes);
  Result<std::string> export_opml() const;

  Result<TimelinePage> timeline(const TimelineQuery& query) const;
  // All items, the oldest first in `others`. By id or by an id it had before; kNotFound.
  Result<StoryView> story(StoryId id) const;
  Result<StoryView> edit_story(StoryId id, const StoryEdit& edit);
  // Marks as read what the query shows, on all its pages. How many became read.
  Result<std::uint64_t> mark_read(const TimelineQuery& query);

  // "Not this story": the story that the item has of its own now.
  Result<StoryView> separate(ItemId item);
  // "Same story": the one that both are now.
  Result<StoryView> unite(StoryId a, StoryId b);

  Result<Settings> settings() const;
  // Kept, and obeyed for items that come from now on; stories stay as they are.
  Status change_settings(const Settings& settings);

  struct Refresh {
    std::uint64_t polled = 0;
    std::uint64_t failed = 0;
    std::uint64_t items = 0;  // new ones
  };
  // Polls the feeds that are due, or those named, and fetches icons that are missing. Items appear
  // as each feed answers. One refresh runs at a time; others wait.
  Result<Refresh> refresh_due();
  Result<Refresh> refresh(std::span<const FeedId> feeds);
  // When the next feed is due; nothing without feeds.
  Result<std::optional<Time>> next_due() const;
  // Drops what is older than the retention. How many items went.
  Result<std::uint64_t> sweep();
  // Ends running and coming fetches soon.
  void cancel();
  // Looks at everything that is kept, and says what of it contradicts itself: nothing, unless the
  // file was damaged or changed by others. Takes seconds for a large database.
  Result<std::vector<std::string>> check() const;

  // `listener` is called after each change, on the thread that made it, and must not call back.
  // Returns a number for stop_listening(), which returns once no call is running.
  using Listener = std::function<void(const NewsEvent&)>;
  std::uint64_t listen(Listener listener);
  void stop_listening(std::uint64_t number);

 private:
  struct State;
  explicit Newsroom(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace kin::stories
