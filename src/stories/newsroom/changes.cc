#include "stories/newsroom/changes.h"

#include <algorithm>
#include <cstring>

#include "base/bytes.h"
#include "stories/newsroom/grouping.h"

namespace kin::stories {

Status NewsChanges::open_story(StoryId story, ItemId representative, StoryId like) {
  touch(story);
  return database_.run(R"sql(
      INSERT OR IGNORE INTO stories (id, representative, hidden)
      VALUES (?1, ?2, coalesce((SELECT hidden FROM stories WHERE id = ?3), 0)))sql",
                       story, representative, like);
}

Status NewsChanges::move(ItemId item, StoryId to) {
  KIN_TRY(const auto from, database_.number("SELECT story FROM items WHERE id = ?", item));
  // The item may have been removed in this transaction.
  if (!from || static_cast<StoryId>(*from) == to) return Done{};
  touch(static_cast<StoryId>(*from));
  KIN_RETURN_IF_ERROR(open_story(to, item, static_cast<StoryId>(*from)));
  return database_.run("UPDATE items SET story = ? WHERE id = ?", to, item);
}

Result<StoryId> NewsChanges::merge(StoryId a, StoryId b) {
  // The lower id is the older story, as in the grouper.
  const auto [kept, gone] = std::minmax(a, b);
  if (kept == gone) return StoryId{kept};
  // The reader dismissed the items of a hidden story. Items of a shown story must not vanish with
  // it.
  KIN_RETURN_IF_ERROR(database_.run(R"sql(
      DELETE FROM unseen WHERE story IN (SELECT id FROM stories WHERE id IN (?1, ?2) AND hidden = 1)
        AND EXISTS (SELECT 1 FROM stories WHERE id IN (?1, ?2) AND hidden = 0))sql",
                                    kept, gone));
  KIN_RETURN_IF_ERROR(database_.run(R"sql(
      UPDATE stories SET starred = s.starred OR o.starred, hidden = s.hidden AND o.hidden,
                         lifted = max(s.lifted, o.lifted)
      FROM stories s, stories o WHERE stories.id = ?1 AND s.id = ?1 AND o.id = ?2)sql",
                                    kept, gone));
  KIN_RETURN_IF_ERROR(database_.run("UPDATE items SET story = ? WHERE story = ?", kept, gone));
  // Aliases lead to the story in one step, so those of the merged story are changed too.
  KIN_RETURN_IF_ERROR(database_.run("UPDATE aliases SET target = ? WHERE target = ?", kept, gone));
  KIN_RETURN_IF_ERROR(
      database_.run("INSERT OR REPLACE INTO aliases (story, target) VALUES (?, ?)", gone, kept));
  KIN_RETURN_IF_ERROR(
      database_.run("UPDATE stories SET repeats = ? WHERE repeats = ?", kept, gone));
  // After the aliases are moved, because drop() deletes those that still lead to the story.
  KIN_RETURN_IF_ERROR(drop(gone));
  // finish() must not update a deleted row.
  stories_.erase(gone);
  event_.gone.push_back({gone, kept});
  touch(kept);
  return StoryId{kept};
}

Status NewsChanges::apply(const std::vector<Change>& changes) {
  for (const Change& change : changes) KIN_RETURN_IF_ERROR(apply(change));
  return Done{};
}

Status NewsChanges::apply(const Change& change) {
  // The grouper's ids may be aliases here, where closed stories were united.
  KIN_TRY(const StoryId story, stored_story(database_, change.story));
  switch (change.kind) {
    case Change::Kind::kMerged: {
      KIN_TRY(const StoryId other, stored_story(database_, change.other));
      KIN_TRY(const auto there, database_.number("SELECT 1 FROM stories WHERE id = ?", other));
      // A story that one item opened and merged again was never stored.
      if (there) KIN_RETURN_IF_ERROR(merge(story, other));
      return Done{};
    }
    case Change::Kind::kMoved: return move(change.item, story);
    case Change::Kind::kRepresentative:
      touch(story);
      return database_.run("UPDATE stories SET representative = ? WHERE id = ?", change.item,
                           story);
    case Change::Kind::kClosed: return Done{};
  }
  KIN_UNREACHABLE();
}

Status NewsChanges::remove_item(ItemId item) {
  NewsQuery row = database_.query("SELECT story, feed, signature FROM items WHERE id = ?", item);
  if (!row.next()) return row.status();
  // finish() recounts the story, and drops it if it is empty.
  touch(row.id<StoryId>());
  touch(row.id<FeedId>());
  KIN_RETURN_IF_ERROR(remove_bands(database_, item, row.text()));
  return database_.run("DELETE FROM items WHERE id = ?", item);
}

void NewsChanges::announce(ItemId item, Time now) {
  news_.push_back(item);
  now_ = now;
}

Status NewsChanges::bring_back(ItemId news) {
  KIN_TRY(const auto story, database_.number("SELECT story FROM items WHERE id = ?", news));
  if (!story) return Done{};
  touch(static_cast<StoryId>(*story));
  KIN_TRY(const auto hidden,
          database_.number("SELECT 1 FROM stories WHERE id = ? AND hidden = 1", *story));
  if (hidden)
    // The older items were dismissed together with the story. All news have higher numbers.
    KIN_RETURN_IF_ERROR(
        database_.run("DELETE FROM unseen WHERE story = ? AND item < ?", *story, news_.front()));
  return database_.run(R"sql(
      UPDATE stories SET hidden = 0, lifted = max(lifted, ?2)
      WHERE id = ?1 AND EXISTS (SELECT 1 FROM unseen WHERE story = ?1)
        AND EXISTS (SELECT 1 FROM items WHERE story = ?1 AND id < ?3
                    AND id NOT IN (SELECT item FROM unseen WHERE story = ?1)))sql",
                       *story, now_, news_.front());
}

Status NewsChanges::finish() {
  // Before the stories are counted, and after all moves, when the news are in their final stories.
  for (const ItemId item : news_) KIN_RETURN_IF_ERROR(bring_back(item));
  // In the order of ids, so that events do not depend on the order of changes.
  for (const StoryId story : stories_) KIN_RETURN_IF_ERROR(update_story(story));
  event_.feeds.assign(feeds_.begin(), feeds_.end());
  return update_feeds();
}

Status NewsChanges::update_story(StoryId story) {
  NewsQuery row = database_.query(R"sql(
      SELECT count(*), count(DISTINCT feed), min(published), max(published)
      FROM items WHERE story = ?)sql",
                                  story);
  row.next();
  KIN_RETURN_IF_ERROR(row.status());
  const std::int64_t count = row.integer();
  if (count == 0) {
    KIN_RETURN_IF_ERROR(drop(story));
    if (database_.changed() > 0) event_.gone.push_back({story, kNoStory});
    return Done{};
  }
  const std::int64_t sources = row.integer();
  const std::int64_t first = row.integer();
  const std::int64_t last = row.integer();
  KIN_TRY(const auto unseen,
          database_.number("SELECT count(*) FROM unseen WHERE story = ?", story));
  // Only if its representative is no longer in it.
  KIN_RETURN_IF_ERROR(represent(story));
  KIN_RETURN_IF_ERROR(
      database_.run(R"sql(UPDATE stories SET count = ?2, sources = ?3, first = ?4, last = ?5,
                            place = max(?5, lifted), unseen = ?6, read = ?6 = 0 WHERE id = ?1)sql",
                    story, count, sources, first, last, unseen.value_or(0)));
  event_.changed.push_back(story);
  return list(story);
}

// The row of the story is removed last, so that changed() tells whether there was one.
Status NewsChanges::drop(StoryId story) {
  KIN_RETURN_IF_ERROR(recount_feeds_of(story));
  KIN_RETURN_IF_ERROR(database_.run("DELETE FROM story_feeds WHERE story = ?", story));
  KIN_RETURN_IF_ERROR(database_.run("DELETE FROM aliases WHERE target = ?", story));
  KIN_RETURN_IF_ERROR(database_.run("UPDATE stories SET repeats = NULL WHERE repeats = ?", story));
  return database_.run("DELETE FROM stories WHERE id = ?", story);
}

Status NewsChanges::recount_feeds_of(StoryId story) {
  return recount(database_.query("SELECT feed FROM story_feeds WHERE story = ?", story));
}

Status NewsChanges::recount(NewsQuery feeds) {
  while (feeds.next()) recounted_.insert(feeds.id<FeedId>());
  return feeds.status();
}

Result<bool> NewsChanges::mark_read(StoryId story, const ReadMark& mark) {
  if (mark.number > 0)
    KIN_RETURN_IF_ERROR(database_.run(
        "INSERT OR IGNORE INTO marked_read SELECT ?, item FROM unseen WHERE story = ? AND item < ?",
        mark.number, story, mark.before));
  KIN_RETURN_IF_ERROR(
      database_.run("DELETE FROM unseen WHERE story = ? AND item < ?", story, mark.before));
  if (database_.changed() == 0) return false;
  KIN_RETURN_IF_ERROR(database_.run(R"sql(
      UPDATE stories SET unseen = (SELECT count(*) FROM unseen WHERE story = ?1),
                         read = NOT EXISTS (SELECT 1 FROM unseen WHERE story = ?1)
      WHERE id = ?1)sql",
                                    story));
  KIN_RETURN_IF_ERROR(recount_feeds_of(story));
  KIN_RETURN_IF_ERROR(database_.run(R"sql(
      UPDATE story_feeds SET unread = 0
      WHERE story = ?1 AND EXISTS (SELECT 1 FROM stories WHERE id = ?1 AND read = 1))sql",
                                    story));
  event_.changed.push_back(story);
  return true;
}

Status NewsChanges::dismiss(StoryId story, ItemId before) {
  touch(story);
  KIN_RETURN_IF_ERROR(
      database_.run("DELETE FROM unseen WHERE story = ? AND item < ?", story, before));
  return database_.run(R"sql(
      UPDATE stories SET hidden = 0, lifted = max(lifted, news.arrived)
      FROM (SELECT max(i.first_seen) AS arrived FROM unseen u JOIN items i ON i.id = u.item
            WHERE u.story = ?1) AS news
      WHERE id = ?1 AND news.arrived IS NOT NULL)sql",
                       story);
}

Status NewsChanges::mark_unread(StoryId story) {
  touch(story);
  return database_.run("INSERT OR IGNORE INTO unseen SELECT story, id FROM items WHERE story = ?",
                       story);
}

Status NewsChanges::represent(StoryId story) {
  return database_.run(R"sql(
      UPDATE stories SET representative =
        (SELECT id FROM items WHERE story = ?1 ORDER BY published, id LIMIT 1)
      WHERE id = ?1 AND NOT EXISTS
        (SELECT 1 FROM items WHERE id = stories.representative AND story = ?1))sql",
                       story);
}

Status NewsChanges::list(StoryId story) {
  // Both the feeds that it leaves and those that it joins change their counts.
  KIN_RETURN_IF_ERROR(recount(database_.query(
      "SELECT feed FROM story_feeds WHERE story = ?1 UNION SELECT feed FROM items WHERE story = ?1",
      story)));
  KIN_RETURN_IF_ERROR(database_.run("DELETE FROM story_feeds WHERE story = ?", story));
  return database_.run(R"sql(
      INSERT INTO story_feeds (feed, unread, place, story)
      SELECT DISTINCT i.feed, NOT s.read, s.place, s.id
      FROM stories s JOIN items i ON i.story = s.id WHERE s.id = ? AND NOT s.hidden)sql",
                       story);
}

Status NewsChanges::update_feeds() {
  for (const FeedId feed : feeds_) {
    // A feed whose items changed may have other unread stories.
    recounted_.insert(feed);
    KIN_RETURN_IF_ERROR(database_.run(
        "UPDATE feeds SET items = (SELECT count(*) FROM items WHERE feed = ?1) WHERE id = ?1",
        feed));
  }
  for (const FeedId feed : recounted_) {
    KIN_RETURN_IF_ERROR(database_.run(R"sql(
        UPDATE feeds SET unread =
          (SELECT count(*) FROM story_feeds WHERE feed = ?1 AND unread = 1)
        WHERE id = ?1)sql",
                                      feed));
  }
  return Done{};
}

std::optional<TextSketch> sketch_of_bytes(std::string_view signature) {
  std::array<std::uint32_t, kSketchHashes> values{};
  if (signature.size() != sizeof values) return std::nullopt;
  std::memcpy(values.data(), signature.data(), sizeof values);
  return sketch_of_signature(values);
}

Status remove_bands(NewsDatabase& database, ItemId item, std::string_view signature) {
  const auto sketch = sketch_of_bytes(signature);
  if (!sketch) return Done{};
  // There is no index by item: the rows are found by their keys, which follow from the signature.
  for (std::size_t band = 0; band < sketch->bands.size(); ++band) {
    KIN_RETURN_IF_ERROR(
        database.run("DELETE FROM lsh_bands WHERE band_index = ? AND band_hash = ? AND item = ?",
                     band, sketch->bands[band], item));
  }
  return Done{};
}

}  // namespace kin::stories
