// The single writer of a newsroom's database. Owns the grouper.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/result.h"
#include "stories/feeds/favicon.h"
#include "stories/feeds/fetcher.h"
#include "stories/grouper.h"
#include "stories/newsroom.h"
#include "stories/newsroom/changes.h"
#include "stories/newsroom/database.h"

namespace kin::stories {

// Every call is one transaction: durable when it returns, without effect if it fails.
// One thread at a time.
class NewsWriter {
 public:
  // Opens or creates the database and restores the grouper, which uses `model` if there is one.
  // `settings` are used if none are stored.
  static Result<std::unique_ptr<NewsWriter>> open(const std::filesystem::path& path,
                                                  Settings settings,
                                                  Grouper::Model model = nullptr);
  // Stores a snapshot, so that the next open() has nothing to replay.
  ~NewsWriter();

  struct NewSubscription {
    std::string url;
    std::string title;  // the user's
    std::string feed_title;
    std::string site;
    std::string folder;
    net::Credentials credentials;
    bool grouped = true;
  };
  // The new feed is due at once. kFailedPrecondition if the address is followed already.
  Result<FeedId> add_feed(const NewSubscription& feed, Time now, NewsEvent& event);
  Status edit_feed(FeedId feed, const FeedEdit& edit, NewsEvent& event);
  // With kKeep the items of starred stories stay, and the feed's row with them.
  Status remove_feed(FeedId feed, StarredItems starred, NewsEvent& event);
  // Stores the result of a poll. Returns the number of new items. Does nothing if the feed was
  // removed in the meantime.
  Result<std::uint64_t> take_poll(FeedId feed, const Poll& poll, Time now, NewsEvent& event);
  // Stores the icon and the time of the check. Without an icon, an earlier one stays.
  Status set_icon(FeedId feed, const std::optional<Favicon>& icon, Time now, NewsEvent& event);

  Status edit_story(StoryId story, const StoryEdit& edit, NewsEvent& event);
  // Marks the items below `before` as seen; all items if it is empty.
  Result<MarkedRead> mark_read(std::span<const StoryId> stories, std::optional<ItemId> before,
                               NewsEvent& event);
  // Returns the number of stories that are unread again. kNotFound if the mark is not known.
  Result<std::uint64_t> undo_mark(std::uint64_t mark, NewsEvent& event);
  Result<StoryId> separate(ItemId item, Time now, NewsEvent& event);
  Result<StoryId> unite(StoryId a, StoryId b, Time now, NewsEvent& event);

  // Stores settings and uses them for new items. Existing stories stay as they are.
  Status change_settings(const Settings& settings);

  // Removes stories without an item since `oldest`, and items of removed feeds whose story is not
  // starred any more. Returns the number of removed items.
  Result<std::uint64_t> sweep(Time oldest, NewsEvent& event);

  NewsDatabase& database() { return *database_; }
  // nullptr after a failed call, until the next one.
  const Grouper* grouper() const { return grouper_ ? &*grouper_ : nullptr; }

 private:
  NewsWriter(std::unique_ptr<NewsDatabase> database, Settings settings, Grouper::Model model)
      : database_(std::move(database)), settings_(std::move(settings)), model_(std::move(model)) {}
  Status load();
  // Runs `work` and NewsChanges::finish() in a transaction.
  Status transact(NewsEvent& event, const std::function<Status(NewsChanges&)>& work);
  Status finish(NewsChanges& changes);
  Status snapshot();
  // The grouper, for calls that change it.
  Grouper& change_grouper();

  // Names the source of a feed's items. Preferred sources match a feed's name, address or host.
  Status name_source(FeedId feed);
  Status name_sources();

  struct Arriving;
  Result<Arriving> receive(FeedId feed, const Poll& poll, Time now, NewsChanges& changes);
  Status update_item(ItemId item, const FeedItem& found, NewsChanges& changes);
  Status mark_absent(FeedId feed, const Feed& document);
  Status add_item(FeedId feed, const FeedItem& found, const Arriving& arriving,
                  NewsChanges& changes);
  Status insert_item(const Item& item, const FeedItem& found, const Placement& placement,
                     FeedId feed, Time now);
  bool are_bands_due() const;
  Status write_bands();
  Status find_repeated(const Item& item, const TextSketch& sketch, StoryId story);
  Status forget_items(std::span<const ItemId> items, NewsChanges& changes);
  Status drop_empty_feeds();
  Result<std::optional<StoryId>> open_part(StoryId story);

  std::unique_ptr<NewsDatabase> database_;
  Settings settings_;
  Grouper::Model model_;
  std::optional<Grouper> grouper_;  // empty after a failed transaction: load() again
  std::uint64_t next_arrival_ = 1;
  std::uint64_t snapshot_at_ = 0;  // the next arrival when the last snapshot was taken
  std::uint64_t banded_to_ = 1;    // items from here on have no rows in lsh_bands yet
  Time now_{};                     // of the last poll
  Time banded_at_{};               // the time of the poll when bands were last written
  bool must_snapshot_ = false;     // a change cannot be replayed
  bool is_ahead_ = false;          // the grouper has changes that are not committed
};

}  // namespace kin::stories
