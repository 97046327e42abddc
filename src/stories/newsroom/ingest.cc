#include <algorithm>
#include <array>
#include <unordered_set>

#include "base/bytes.h"
#include "stories/newsroom/grouping.h"
#include "stories/newsroom/writer.h"

namespace kin::stories {

struct NewsWriter::Arriving {
  Time now{};
  std::string source;
  bool grouped = true;
  std::vector<const FeedItem*> items{};  // the new ones, the oldest first

  Time published(const FeedItem& item) const { return item.published.value_or(now); }
};

namespace {

Status store_poll(NewsDatabase& database, FeedId feed, const Poll& poll, Time now) {
  const Subscription& next = poll.next;
  const bool failed =
      poll.outcome == Poll::Outcome::kFailed || poll.outcome == Poll::Outcome::kGone;
  return database.run(
      R"sql(UPDATE feeds SET polled = ?2, next_poll = ?3, problem = ?4, gone = ?5,
              etag = ?6, last_modified = ?7, content_hash = ?8, change_gap = ?9, changed_at = ?10,
              failures = ?11, credentials = ?12, user = ?13, secret = ?14
            WHERE id = ?1)sql",
      feed, now, poll.next_poll, failed ? std::string_view(poll.error.message) : "",
      poll.outcome == Poll::Outcome::kGone, next.etag, next.last_modified, next.content_hash,
      static_cast<std::int64_t>(next.pace.change_gap.count()), next.pace.changed_at,
      next.pace.failures, next.credentials.kind, next.credentials.user, next.credentials.secret);
}

// Two subscriptions may move to one address: the second stays where it was.
Status store_description(NewsDatabase& database, FeedId feed, const Poll& poll) {
  if (poll.moved_to)
    KIN_RETURN_IF_ERROR(
        database.run("UPDATE OR IGNORE feeds SET url = ? WHERE id = ?", *poll.moved_to, feed));
  if (poll.outcome != Poll::Outcome::kItems) return Done{};
  return database.run("UPDATE feeds SET title = ?, site = ? WHERE id = ?", poll.feed.title,
                      poll.feed.site, feed);
}

}  // namespace

Result<std::uint64_t> NewsWriter::take_poll(FeedId feed, const Poll& poll, Time now,
                                            NewsEvent& event) {
  std::uint64_t added = 0;
  const auto work = [&](NewsChanges& changes) -> Status {
    KIN_TRY(const auto there,
            database_->number("SELECT 1 FROM feeds WHERE id = ? AND removed = 0", feed));
    // The feed was removed while it was fetched.
    if (!there) return Done{};
    // For the age of the bands, which finish() checks.
    now_ = now;
    KIN_RETURN_IF_ERROR(store_poll(*database_, feed, poll, now));
    KIN_RETURN_IF_ERROR(store_description(*database_, feed, poll));
    changes.touch(feed);
    if (poll.outcome != Poll::Outcome::kItems) return Done{};
    KIN_TRY(const Arriving arriving, receive(feed, poll, now, changes));
    for (const FeedItem* item : arriving.items)
      KIN_RETURN_IF_ERROR(add_item(feed, *item, arriving, changes));
    added = arriving.items.size();
    // Last: new items are in the feed too.
    return mark_absent(feed, poll.feed);
  };
  KIN_RETURN_IF_ERROR(transact(event, work));
  return added;
}

// Updates the items that are already known and returns the others, the oldest first. Feeds list the
// newest first, so of items with the same time the last one is the oldest.
Result<NewsWriter::Arriving> NewsWriter::receive(FeedId feed, const Poll& poll, Time now,
                                                 NewsChanges& changes) {
  Arriving arriving{.now = now, .source = {}, .grouped = true};
  NewsQuery row = database_->query("SELECT source, grouped FROM feeds WHERE id = ?", feed);
  if (row.next()) {
    arriving.source = row.text();
    arriving.grouped = row.truth();
  }
  KIN_RETURN_IF_ERROR(row.status());
  std::unordered_set<std::string_view> guids;
  for (auto item = poll.feed.items.rbegin(); item != poll.feed.items.rend(); ++item) {
    // The parser makes guids unique; the database would refuse a second one.
    if (!guids.insert(item->guid).second) continue;
    KIN_TRY(const auto known, database_->number("SELECT id FROM items WHERE feed = ? AND guid = ?",
                                                feed, item->guid));
    if (known) {
      KIN_RETURN_IF_ERROR(update_item(static_cast<ItemId>(*known), *item, changes));
    } else {
      arriving.items.push_back(&*item);
    }
  }
  std::ranges::stable_sort(arriving.items, {},
                           [&](const FeedItem* item) { return arriving.published(*item); });
  return arriving;
}

Status NewsWriter::update_item(ItemId item, const FeedItem& found, NewsChanges& changes) {
  NewsQuery row = database_->query(
      "SELECT story, present, title, summary, url, author, image FROM items WHERE id = ?", item);
  if (!row.next()) return row.status();
  const auto story = row.id<StoryId>();
  const bool present = row.truth();
  bool same = true;
  for (const std::string* field :
       {&found.title, &found.summary, &found.url, &found.author, &found.image})
    same &= row.text() == *field;
  // Most items of a poll are known and unchanged.
  if (same && present) return Done{};
  if (same) return database_->run("UPDATE items SET present = 1 WHERE id = ?", item);
  changes.touch(story);
  // A replay must see the text that was grouped.
  if (number(item) >= snapshot_at_)
    KIN_RETURN_IF_ERROR(database_->run(
        R"sql(INSERT OR IGNORE INTO grouped_texts (item, title, summary, url)
              SELECT id, title, summary, url FROM items WHERE id = ?)sql",
        item));
  return database_->run(
      R"sql(UPDATE items SET present = 1, title = ?2, summary = ?3, url = ?4, author = ?5,
              image = ?6 WHERE id = ?1)sql",
      item, found.title, found.summary, found.url, found.author, found.image);
}

Status NewsWriter::mark_absent(FeedId feed, const Feed& document) {
  std::unordered_set<std::string_view> shown;
  for (const FeedItem& item : document.items) shown.insert(item.guid);
  // Collected first: rows must not change while they are read.
  std::vector<ItemId> absent;
  NewsQuery row =
      database_->query("SELECT id, guid FROM items WHERE feed = ? AND present = 1", feed);
  while (row.next()) {
    const auto id = row.id<ItemId>();
    if (!shown.contains(row.text())) absent.push_back(id);
  }
  KIN_RETURN_IF_ERROR(row.status());
  for (const ItemId item : absent)
    KIN_RETURN_IF_ERROR(database_->run("UPDATE items SET present = 0 WHERE id = ?", item));
  return Done{};
}

Status NewsWriter::add_item(FeedId feed, const FeedItem& found, const Arriving& arriving,
                            NewsChanges& changes) {
  const Item item{.id = static_cast<ItemId>(next_arrival_++),
                  .title = found.title,
                  .published_at = arriving.published(found).time_since_epoch().count(),
                  .source = arriving.source,
                  .summary = found.summary,
                  .url = found.url,
                  .guid = found.guid,
                  .grouped = arriving.grouped};
  // The grouper goes first. If the transaction fails, it is loaded again.
  Placement placement = change_grouper().add(item);
  // The grouper's story may have been united with a closed one.
  KIN_TRY(placement.story, stored_story(*database_, placement.story));
  KIN_RETURN_IF_ERROR(changes.open_story(placement.story, item.id));
  // The same page under the same headline, in another feed of its site, is not news.
  KIN_TRY(const auto known, database_->number(R"sql(
      SELECT 1 FROM items i WHERE story = ?1 AND url = ?2 AND url <> '' AND title = ?3
        AND NOT EXISTS (SELECT 1 FROM unseen WHERE story = ?1 AND item = i.id))sql",
                                              placement.story, item.url, item.title));
  KIN_RETURN_IF_ERROR(insert_item(item, found, placement, feed, arriving.now));
  if (!known) {
    KIN_RETURN_IF_ERROR(
        database_->run("INSERT INTO unseen (story, item) VALUES (?, ?)", placement.story, item.id));
    changes.announce(item.id, arriving.now);
  }
  if (const auto sketch = grouper_->sketch(item.id)) {
    // Only an item that no open story took can repeat a closed one.
    if (placement.tier == Tier::kOpened)
      KIN_RETURN_IF_ERROR(find_repeated(item, *sketch, placement.story));
  }
  return changes.apply(grouper_->take_changes());
}

Status NewsWriter::insert_item(const Item& item, const FeedItem& found, const Placement& placement,
                               FeedId feed, Time now) {
  std::optional<Blob> signature;
  const auto sketch = grouper_->sketch(item.id);
  if (sketch) signature = Blob{as_bytes_view(std::span<const std::uint32_t>(sketch->signature))};
  return database_->run(
      R"sql(INSERT INTO items (id, feed, story, tier, similarity, published, first_seen, present,
                               guid, url, title, summary, author, image, signature)
            VALUES (?, ?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?))sql",
      item.id, feed, placement.story, placement.tier, placement.similarity, item.published_at, now,
      item.guid, item.url, item.title, item.summary, found.author, found.image, signature);
}

// Looks for a closed story with the same text: compares the signatures of stored items that share a
// band with the new one.
Status NewsWriter::find_repeated(const Item& item, const TextSketch& sketch, StoryId story) {
  constexpr std::int64_t kMostCompared = 20;
  // An item that shares several bands is compared once.
  std::unordered_set<std::int64_t> compared;
  std::optional<std::int64_t> repeated;
  double best = settings_.copy_threshold;
  for (std::size_t band = 0; band < sketch.bands.size(); ++band) {
    NewsQuery row = database_->query(R"sql(
        SELECT b.item, i.story, i.signature FROM lsh_bands b JOIN items i ON i.id = b.item
        WHERE b.band_index = ? AND b.band_hash = ? ORDER BY b.item DESC LIMIT ?)sql",
                                     band, sketch.bands[band], kMostCompared);
    while (row.next()) {
      const std::int64_t other = row.integer();
      const std::int64_t told = row.integer();
      if (!compared.insert(other).second || told == static_cast<std::int64_t>(number(story)))
        continue;
      const auto earlier = sketch_of_bytes(row.text());
      if (!earlier || similarity(sketch.signature, earlier->signature) < best) continue;
      // The grouper compared open stories already and decided against them.
      if (grouper_->find(static_cast<ItemId>(other))) continue;
      best = similarity(sketch.signature, earlier->signature);
      repeated = told;
    }
    KIN_RETURN_IF_ERROR(row.status());
  }
  if (!repeated) return Done{};
  return database_->run("UPDATE stories SET repeats = ? WHERE id = ? AND representative = ?",
                        *repeated, story, item.id);
}

// Bands are needed only once a story is closed, so those of many items are written together. In
// sorted order they share pages; one item alone would change twenty pages.
Status NewsWriter::write_bands() {
  // By band: hash and item. SQLite compares the hashes as signed numbers.
  std::array<std::vector<std::pair<std::int64_t, std::uint64_t>>, kSketchBands> bands;
  NewsQuery items = database_->query(
      "SELECT id, signature FROM items WHERE id >= ? AND signature IS NOT NULL", banded_to_);
  while (items.next()) {
    const std::uint64_t item = items.count();
    const auto sketch = sketch_of_bytes(items.text());
    if (!sketch) continue;
    for (std::size_t band = 0; band < kSketchBands; ++band)
      bands[band].emplace_back(static_cast<std::int64_t>(sketch->bands[band]), item);
  }
  KIN_RETURN_IF_ERROR(items.status());
  for (std::size_t band = 0; band < kSketchBands; ++band) {
    std::ranges::sort(bands[band]);
    for (const auto& [hash, item] : bands[band])
      KIN_RETURN_IF_ERROR(database_->run(
          "INSERT OR IGNORE INTO lsh_bands (band_index, band_hash, item) VALUES (?, ?, ?)", band,
          hash, item));
  }
  // Also if the transaction fails later: is_ahead_ makes the writer load its state again.
  banded_to_ = next_arrival_;
  is_ahead_ = true;
  return database_->run("INSERT OR REPLACE INTO counters VALUES ('banded_to', ?)", banded_to_);
}

}  // namespace kin::stories
