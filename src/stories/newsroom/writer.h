// The one that writes: items in, stories out, each change in one transaction.
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

// Every call is one transaction, durable when it returns; after an error nothing of it was done.
// One thread at a time.
class NewsWriter {
 public:
  // Opens the database of `path`, or makes it, and brings the grouper back. `settings` are those of
  // one in which none are stored.
  static Result<std::unique_ptr<NewsWriter>> open(const std::filesystem::path& path,
                                                  Settings settings);
  // Leaves a snapshot, so that the next to open has nothing to replay.
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
  // kFailedPrecondition if the address is followed already. Due at once.
  Result<FeedId> add_feed(const NewSubscription& feed, Time now, NewsEvent& event);
  Status edit_feed(FeedId feed, const FeedEdit& edit, NewsEvent& event);
  Status remove_feed(FeedId feed, NewsEvent& event);
  // What a poll brought. How many items were new. A feed that was removed meanwhile is passed over.
  Result<std::uint64_t> take_poll(FeedId feed, const Poll& poll, Time now, NewsEvent& event);
  // Nothing: it was looked for and there is none; the one from before stays.
  Status set_icon(FeedId feed, const std::optional<Favicon>& icon, Time now, NewsEvent& event);

  Status edit_story(StoryId story, const StoryEdit& edit, NewsEvent& event);
  Result<std::uint64_t> mark_read(std::span<const StoryId> stories, NewsEvent& event);
  Result<StoryId> separate(ItemId item, Time now, NewsEvent& event);
  Result<StoryId> unite(StoryId a, StoryId b, Time now, NewsEvent& event);

  // Stored, and from now on obeyed. Stories stay as they are.
  Status change_settings(const Settings& settings);

  // Drops stories without an item since `oldest`. How many items went.
  Result<std::uint64_t> sweep(Time oldest, NewsEvent& event);

  NewsDatabase& database() { return *database_; }
  // nullptr after an error, until the next call.
  const Grouper* grouper() const { return grouper_ ? &*grouper_ : nullptr; }

 private:
  NewsWriter(std::unique_ptr<NewsDatabase> database, Settings settings)
      : database_(std::move(database)), settings_(std::move(settings)) {}
  Status load();
  // Runs `work` and what must follow it in a transaction.
  Status transact(const std::function<Status(NewsChanges&)>& work, NewsEvent& event);
  Status finish(NewsChanges& changes);
  Status snapshot();
  // For everything that changes it.
  Grouper& change_grouper();

  // Preferred sources go by a feed's name, address or host.
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
  Result<std::optional<StoryId>> open_part(StoryId story);

  std::unique_ptr<NewsDatabase> database_;
  Settings settings_;
  std::optional<Grouper> grouper_;  // nothing if it is ahead of the database: load() again
  std::uint64_t next_arrival_ = 1;
  std::uint64_t snapshot_at_ = 0;  // the next arrival when the last snapshot was taken
  std::uint64_t banded_to_ = 1;    // items from here on have no rows in lsh_bands yet
  Time now_{};                     // of the last poll
  Time banded_at_{};               // the time of the poll when bands were last written
  bool must_snapshot_ = false;     // what was done cannot be replayed
  bool is_ahead_ = false;          // the grouper, of the database, until the transaction ends
};

}  // namespace kin::stories
