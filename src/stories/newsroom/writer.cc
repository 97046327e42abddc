#include "stories/newsroom/writer.h"

#include <fmt/format.h>

#include "net/url.h"
#include "stories/newsroom/grouping.h"
#include "stories/newsroom/schema.h"
#include "stories/newsroom/settings.h"
#include "stories/newsroom/timeline.h"

namespace kin::stories {
namespace {

// A replay takes about 15 µs an item, a snapshot about as much for each open item.
constexpr std::uint64_t kLeastSnapshotGap = 4'000;
// Well before a story is closed.
constexpr std::chrono::hours kLongestWithoutBands{12};
// "Mark all as read" requests that can be undone.
constexpr std::uint64_t kMostMarks = 10;
// Above every item.
constexpr ItemId kAllItems{std::uint64_t{1} << 62};

}  // namespace

Result<std::unique_ptr<NewsWriter>> NewsWriter::open(const std::filesystem::path& path,
                                                     Settings settings, Grouper::Model model) {
  KIN_RETURN_IF_ERROR(check(settings));
  KIN_TRY(auto database, NewsDatabase::open(path, NewsDatabase::Access::kWrite));
  KIN_RETURN_IF_ERROR(migrate(*database));
  // Stored settings win over the given ones.
  KIN_TRY(settings, load_settings(*database, std::move(settings)));
  std::unique_ptr<NewsWriter> writer(
      new NewsWriter(std::move(database), std::move(settings), std::move(model)));
  KIN_RETURN_IF_ERROR(writer->load());
  KIN_RETURN_IF_ERROR(writer->name_sources());
  return writer;
}

NewsWriter::~NewsWriter() {
  if (!grouper_ || snapshot_at_ == next_arrival_) return;
  auto transaction = NewsTransaction::begin(*database_);
  // If this fails, the next open() replays more, with the same result.
  if (transaction.ok() && write_bands().ok() && snapshot().ok()) (void)transaction->commit();
}

Status NewsWriter::load() {
  KIN_TRY(next_arrival_, read_counter(*database_, "next_arrival"));
  KIN_TRY(banded_to_, read_counter(*database_, "banded_to"));
  KIN_TRY(snapshot_at_, replayed_from(*database_));
  KIN_TRY(Grouper grouper, load_grouper(*database_, settings_, model_));
  grouper_.emplace(std::move(grouper));
  return Done{};
}

Status NewsWriter::transact(NewsEvent& event, const std::function<Status(NewsChanges&)>& work) {
  if (!grouper_) KIN_RETURN_IF_ERROR(load());
  KIN_TRY(NewsTransaction transaction, NewsTransaction::begin(*database_));
  NewsChanges changes(*database_);
  must_snapshot_ = is_ahead_ = false;
  Status status = work(changes);
  if (status.ok()) status = finish(changes);
  if (status.ok()) status = transaction.commit();
  if (!status.ok()) {
    // The grouper is ahead of the database. The next call loads it again.
    if (is_ahead_) grouper_.reset();
    return status;
  }
  event = changes.take_event();
  return Done{};
}

Status NewsWriter::finish(NewsChanges& changes) {
  // Changes that `work` did not apply by itself, such as stories that forget() closed.
  if (is_ahead_) KIN_RETURN_IF_ERROR(changes.apply(grouper_->take_changes()));
  KIN_RETURN_IF_ERROR(changes.finish());
  KIN_RETURN_IF_ERROR(
      // With every transaction: numbers must never be given twice.
      database_->run("INSERT OR REPLACE INTO counters VALUES ('next_arrival', ?), "
                     "('next_story', ?)",
                     next_arrival_, grouper_->next_story()));
  if (are_bands_due()) {
    banded_at_ = now_;
    KIN_RETURN_IF_ERROR(write_bands());
  }
  // A snapshot costs as much as replaying all open items, so it waits for a quarter as many new
  // ones.
  const std::uint64_t gap = std::max<std::uint64_t>(kLeastSnapshotGap, grouper_->open_items() / 4);
  if (must_snapshot_ || next_arrival_ - snapshot_at_ >= gap) return snapshot();
  return Done{};
}

bool NewsWriter::are_bands_due() const {
  // Either there are many items without bands, or their stories may close soon.
  return next_arrival_ - banded_to_ >= kLeastSnapshotGap ||
         (now_ - banded_at_ >= kLongestWithoutBands && next_arrival_ > banded_to_);
}

Grouper& NewsWriter::change_grouper() {
  is_ahead_ = true;
  return *grouper_;
}

Status NewsWriter::snapshot() {
  // If the commit fails, snapshot_at_ is wrong and has to be loaded again.
  is_ahead_ = true;
  KIN_RETURN_IF_ERROR(save_grouper(*database_, *grouper_, next_arrival_));
  snapshot_at_ = next_arrival_;
  return Done{};
}

Result<FeedId> NewsWriter::add_feed(const NewSubscription& feed, Time now, NewsEvent& event) {
  FeedId id{};
  const auto work = [&](NewsChanges& changes) -> Status {
    KIN_RETURN_IF_ERROR(check_not_followed(*database_, feed.url));
    // A removed feed that starred stories still have items of is followed again under its id. Ids
    // are never reused (AUTOINCREMENT), so events and logs stay unambiguous.
    KIN_TRY(
        const auto added,
        database_->number(
            R"sql(INSERT INTO feeds (url, source, own_title, title, site, folder, grouped, next_poll,
                                 credentials, user, secret)
              VALUES (?1, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
              ON CONFLICT (url) DO UPDATE SET removed = 0, gone = 0, problem = '', etag = '',
                last_modified = '', content_hash = 0, failures = 0, own_title = excluded.own_title,
                title = excluded.title, site = excluded.site, folder = excluded.folder,
                grouped = excluded.grouped, next_poll = excluded.next_poll,
                credentials = excluded.credentials, user = excluded.user, secret = excluded.secret
              RETURNING id)sql",
            feed.url, feed.title, feed.feed_title, feed.site, feed.folder, feed.grouped, now,
            feed.credentials.kind, feed.credentials.user, feed.credentials.secret));
    id = static_cast<FeedId>(added.value_or(0));
    changes.touch(id);
    return name_source(id);
  };
  KIN_RETURN_IF_ERROR(transact(event, work));
  return id;
}

Status NewsWriter::edit_feed(FeedId feed, const FeedEdit& edit, NewsEvent& event) {
  return transact(event, [&](NewsChanges& changes) -> Status {
    KIN_RETURN_IF_ERROR(database_->run(
        R"sql(UPDATE feeds SET own_title = coalesce(?2, own_title), folder = coalesce(?3, folder),
                               grouped = coalesce(?4, grouped)
              WHERE id = ?1 AND removed = 0)sql",
        feed, edit.title, edit.folder, edit.grouped));
    if (database_->changed() == 0) return no_such_feed(feed);
    changes.touch(feed);
    return name_source(feed);
  });
}

// A replay uses the present source of a feed, so a change of the source needs a snapshot.
Status NewsWriter::name_source(FeedId feed) {
  NewsQuery row =
      database_->query("SELECT source, url, own_title, title FROM feeds WHERE id = ?", feed);
  if (!row.next()) return row.status();
  const std::string source = row.text();
  const std::string url = row.text();
  const std::string own_title = row.text();
  const std::string title = row.text();
  const auto parsed = net::Url::parse(url);
  const std::string host = parsed.ok() ? parsed->host() : std::string();
  // People name a source by what they see: title, address or host.
  std::optional<std::int64_t> rank;
  for (const std::string& name : settings_.preferred_sources) {
    if (name != own_title && name != title && name != url && name != host) continue;
    rank = &name - settings_.preferred_sources.data();
    if (name == source) break;
    must_snapshot_ = true;
    KIN_RETURN_IF_ERROR(database_->run("UPDATE feeds SET source = ? WHERE id = ?", name, feed));
    break;
  }
  return database_->run("UPDATE feeds SET preference = ?2 WHERE id = ?1 AND preference IS NOT ?2",
                        feed, rank);
}

Status NewsWriter::name_sources() {
  KIN_TRY(const auto preferred,
          database_->number("SELECT 1 FROM feeds WHERE preference IS NOT NULL"));
  if (settings_.preferred_sources.empty() && !preferred) return Done{};
  NewsEvent event;
  return transact(event, [&](NewsChanges&) -> Status {
    KIN_TRY(const auto feeds, read_ids<FeedId>(database_->query("SELECT id FROM feeds")));
    for (const FeedId feed : feeds) KIN_RETURN_IF_ERROR(name_source(feed));
    return Done{};
  });
}

Status NewsWriter::forget_items(std::span<const ItemId> items, NewsChanges& changes) {
  for (const ItemId item : items) {
    // A replay cannot repeat it, because the item is no longer stored. That also matters for an
    // item whose story is closed, if the replay would begin before it.
    if (change_grouper().forget(item) || number(item) >= snapshot_at_) must_snapshot_ = true;
    KIN_RETURN_IF_ERROR(changes.remove_item(item));
  }
  return Done{};
}

Status NewsWriter::remove_feed(FeedId feed, StarredItems starred, NewsEvent& event) {
  return transact(event, [&](NewsChanges& changes) -> Status {
    KIN_TRY(const auto there,
            database_->number("SELECT 1 FROM feeds WHERE id = ? AND removed = 0", feed));
    if (!there) return no_such_feed(feed);
    KIN_TRY(const auto items,
            read_ids<ItemId>(database_->query(R"sql(
        SELECT i.id FROM items i JOIN stories s ON s.id = i.story
        WHERE i.feed = ? AND (? OR s.starred = 0) ORDER BY i.id)sql",
                                              feed, starred == StarredItems::kRemove)));
    KIN_RETURN_IF_ERROR(forget_items(items, changes));
    KIN_RETURN_IF_ERROR(database_->run("UPDATE items SET present = 0 WHERE feed = ?", feed));
    // The row stays if starred stories have items of it: their source keeps its name.
    KIN_RETURN_IF_ERROR(database_->run(
        R"sql(UPDATE feeds SET removed = 1, folder = '', credentials = 0, user = '', secret = ''
              WHERE id = ?)sql",
        feed));
    KIN_RETURN_IF_ERROR(drop_empty_feeds());
    changes.touch(feed);
    // A replay would miss its items, which are deleted now.
    must_snapshot_ = true;
    return Done{};
  });
}

Status NewsWriter::drop_empty_feeds() {
  return database_->run(R"sql(
      DELETE FROM feeds WHERE removed = 1 AND NOT EXISTS
        (SELECT 1 FROM items WHERE feed = feeds.id))sql");
}

Status NewsWriter::set_icon(FeedId feed, const std::optional<Favicon>& icon, Time now,
                            NewsEvent& event) {
  return transact(event, [&](NewsChanges& changes) -> Status {
    KIN_RETURN_IF_ERROR(
        database_->run("UPDATE feeds SET icon_checked = ? WHERE id = ?", now, feed));
    // The feed is gone, or the time of the check is all there is to store.
    if (database_->changed() == 0 || !icon) return Done{};
    changes.touch(feed);
    return database_->run(
        "INSERT OR REPLACE INTO icons (feed, url, type, bytes) VALUES (?, ?, ?, ?)", feed,
        icon->url, icon->type, Blob{icon->bytes});
  });
}

Status NewsWriter::edit_story(StoryId story, const StoryEdit& edit, NewsEvent& event) {
  return transact(event, [&](NewsChanges& changes) -> Status {
    KIN_TRY(const StoryId stored, stored_story(*database_, story));
    KIN_RETURN_IF_ERROR(database_->run(
        R"sql(UPDATE stories SET starred = coalesce(?2, starred), hidden = coalesce(?3, hidden)
              WHERE id = ?1)sql",
        stored, edit.starred, edit.hidden));
    if (database_->changed() == 0) return no_such_story(story);
    changes.touch(stored);
    if (edit.read && !*edit.read) return changes.mark_unread(stored);
    const ItemId before = edit.before.value_or(kAllItems);
    KIN_TRY(const auto news, database_->number("SELECT 1 FROM unseen WHERE story = ? AND item >= ?",
                                               stored, before));
    if (edit.read || (edit.hidden.value_or(false) && news)) return changes.dismiss(stored, before);
    return Done{};
  });
}

Result<MarkedRead> NewsWriter::mark_read(std::span<const StoryId> stories,
                                         std::optional<ItemId> before, NewsEvent& event) {
  MarkedRead marked;
  const auto work = [&](NewsChanges& changes) -> Status {
    KIN_TRY(marked.undo, read_counter(*database_, "next_mark"));
    for (const StoryId story : stories) {
      KIN_TRY(const bool was_unread,
              changes.mark_read(story, {marked.undo, before.value_or(kAllItems)}));
      marked.stories += was_unread ? 1 : 0;
    }
    KIN_RETURN_IF_ERROR(
        database_->run("INSERT OR REPLACE INTO counters VALUES ('next_mark', ?)", marked.undo + 1));
    return database_->run("DELETE FROM marked_read WHERE mark + ? <= ?", kMostMarks, marked.undo);
  };
  KIN_RETURN_IF_ERROR(transact(event, work));
  return marked;
}

Result<std::uint64_t> NewsWriter::undo_mark(std::uint64_t mark, NewsEvent& event) {
  std::uint64_t restored = 0;
  const auto work = [&](NewsChanges& changes) -> Status {
    KIN_TRY(const auto stories, read_ids<StoryId>(database_->query(R"sql(
        SELECT DISTINCT i.story FROM marked_read m JOIN items i ON i.id = m.item
        WHERE m.mark = ? ORDER BY 1)sql",
                                                                   mark)));
    KIN_TRY(const auto known, database_->number("SELECT 1 FROM marked_read WHERE mark = ?", mark));
    if (!known)
      return Error{
          Code::kNotFound,
          fmt::format("mark {} cannot be undone: it marked nothing, was undone already, or "
                      "is not among the last {}",
                      mark, kMostMarks)};
    KIN_RETURN_IF_ERROR(database_->run(R"sql(
        INSERT OR IGNORE INTO unseen (story, item)
        SELECT i.story, i.id FROM marked_read m JOIN items i ON i.id = m.item WHERE m.mark = ?)sql",
                                       mark));
    for (const StoryId story : stories) changes.touch(story);
    restored = stories.size();
    return database_->run("DELETE FROM marked_read WHERE mark = ?", mark);
  };
  KIN_RETURN_IF_ERROR(transact(event, work));
  return restored;
}

Result<StoryId> NewsWriter::separate(ItemId item, Time now, NewsEvent& event) {
  StoryId own = kNoStory;
  const auto work = [&](NewsChanges& changes) -> Status {
    NewsQuery row = database_->query(
        "SELECT s.id, s.count FROM items i JOIN stories s ON s.id = i.story WHERE i.id = ?", item);
    if (!row.next()) {
      KIN_RETURN_IF_ERROR(row.status());
      return Error{Code::kNotFound, fmt::format("there is no item {}", number(item))};
    }
    // An item that is alone in its story has nothing to be separated from.
    const StoryId left = own = row.id<StoryId>();
    if (row.integer() == 1) return Done{};
    own = separate_in(change_grouper(), item);
    KIN_RETURN_IF_ERROR(changes.apply(grouper_->take_changes()));
    KIN_RETURN_IF_ERROR(changes.move(item, own));
    KIN_RETURN_IF_ERROR(database_->run("UPDATE items SET tier = ?, similarity = 1 WHERE id = ?",
                                       Tier::kCorrected, item));
    // A user who separates an item wants to see it.
    KIN_RETURN_IF_ERROR(database_->run("UPDATE stories SET hidden = 0 WHERE id = ?", own));
    return database_->run(
        "INSERT INTO corrections (id, kind, item, story, other, made) VALUES (?, ?, ?, ?, ?, ?)",
        // Corrections are numbered with the items, so that a replay repeats them in order.
        next_arrival_++, CorrectionKind::kSeparate, item, left, own, now);
  };
  KIN_RETURN_IF_ERROR(transact(event, work));
  return own;
}

// The grouper's story for a stored story, if it has one. Its id may be another one.
Result<std::optional<StoryId>> NewsWriter::open_part(StoryId story) {
  NewsQuery row =
      database_->query("SELECT id FROM items WHERE story = ? ORDER BY published DESC", story);
  while (row.next()) {
    if (const auto place = grouper_->find(row.id<ItemId>())) return std::optional(place->story);
  }
  KIN_RETURN_IF_ERROR(row.status());
  return std::optional<StoryId>();
}

Result<StoryId> NewsWriter::unite(StoryId a, StoryId b, Time now, NewsEvent& event) {
  StoryId united = kNoStory;
  const auto work = [&](NewsChanges& changes) -> Status {
    // Ids that were merged stand for the story that they became.
    for (StoryId* story : {&a, &b}) {
      KIN_TRY(const StoryId stored, stored_story(*database_, *story));
      KIN_TRY(const auto there, database_->number("SELECT 1 FROM stories WHERE id = ?", stored));
      if (!there) return no_such_story(*story);
      *story = stored;
    }
    united = a;
    if (a == b) return Done{};
    KIN_TRY(std::optional<StoryId> open_a, open_part(a));
    KIN_TRY(std::optional<StoryId> open_b, open_part(b));
    // If the grouper has only one of the two, that one is united with itself: it is never split
    // then.
    if (!open_a) open_a = open_b;
    if (!open_b) open_b = open_a;
    if (open_a) {
      const auto both = change_grouper().unite(*open_a, *open_b);
      if (!both.ok()) return both.error();
    }
    KIN_RETURN_IF_ERROR(changes.apply(grouper_->take_changes()));
    // Applying the changes may already have merged the two.
    KIN_TRY(const StoryId stored_a, stored_story(*database_, a));
    KIN_TRY(const StoryId stored_b, stored_story(*database_, b));
    KIN_TRY(united, changes.merge(stored_a, stored_b));
    return database_->run(
        R"sql(INSERT INTO corrections (id, kind, story, other, open_story, open_other, made)
              VALUES (?, ?, ?, ?, ?, ?, ?))sql",
        next_arrival_++, CorrectionKind::kUnite, a, b, open_a, open_b, now);
  };
  KIN_RETURN_IF_ERROR(transact(event, work));
  return united;
}

// After a snapshot nothing is replayed, so stories grouped with the old settings stay as they are.
Status NewsWriter::change_settings(const Settings& settings) {
  KIN_RETURN_IF_ERROR(check(settings));
  NewsEvent nothing;
  const auto work = [&](NewsChanges&) -> Status {
    must_snapshot_ = true;
    return store_settings(*database_, settings);
  };
  KIN_RETURN_IF_ERROR(transact(nothing, work));
  // The grouper is loaded from the snapshot that was just taken, with the new settings.
  settings_ = settings;
  grouper_.reset();
  KIN_RETURN_IF_ERROR(load());
  return name_sources();
}

Result<std::uint64_t> NewsWriter::sweep(Time oldest, NewsEvent& event) {
  std::vector<ItemId> items;
  const auto work = [&](NewsChanges& changes) -> Status {
    KIN_TRY(items, read_ids<ItemId>(database_->query(R"sql(
        SELECT i.id FROM stories s JOIN items i ON i.story = s.id
        WHERE s.last < ?1 AND s.starred = 0 AND NOT EXISTS
          (SELECT 1 FROM items o WHERE o.story = s.id AND (o.present = 1 OR o.first_seen >= ?1))
        UNION SELECT i.id FROM feeds f JOIN items i ON i.feed = f.id JOIN stories s ON s.id = i.story
        WHERE f.removed = 1 AND s.starred = 0
        ORDER BY 1)sql",
                                                     oldest)));
    KIN_RETURN_IF_ERROR(forget_items(items, changes));
    return drop_empty_feeds();
  };
  KIN_RETURN_IF_ERROR(transact(event, work));
  return items.size();
}

}  // namespace kin::stories
