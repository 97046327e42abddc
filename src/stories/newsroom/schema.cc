#include "stories/newsroom/schema.h"

#include <fmt/format.h>

#include <array>

namespace kin::stories {
namespace {

// Items and corrections are numbered by one sequence, in order of arrival: replaying both in order
// gives the grouper's state. `present` marks an item that is still in its feed.
//
// `story_feeds` has a row for each feed of each story that is not hidden, in the order in which
// timelines show them, so a page of a feed or folder is a range of this table.
//
// `lsh_bands` has no index by item. The rows of an item are computed from its signature.
//
// `item_words` is a full-text index without a copy of the text. spaced() is in database.h.
constexpr const char* kVersion1 = R"sql(
CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;

CREATE TABLE feeds (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  url TEXT NOT NULL UNIQUE,
  source TEXT NOT NULL,
  own_title TEXT NOT NULL DEFAULT '',
  title TEXT NOT NULL DEFAULT '',
  site TEXT NOT NULL DEFAULT '',
  folder TEXT NOT NULL DEFAULT '',
  grouped INTEGER NOT NULL DEFAULT 1,
  gone INTEGER NOT NULL DEFAULT 0,
  polled INTEGER,
  next_poll INTEGER,
  problem TEXT NOT NULL DEFAULT '',
  credentials INTEGER NOT NULL DEFAULT 0,
  user TEXT NOT NULL DEFAULT '',
  secret TEXT NOT NULL DEFAULT '',
  etag TEXT NOT NULL DEFAULT '',
  last_modified TEXT NOT NULL DEFAULT '',
  content_hash INTEGER NOT NULL DEFAULT 0,
  change_gap INTEGER NOT NULL DEFAULT 0,
  changed_at INTEGER,
  failures INTEGER NOT NULL DEFAULT 0,
  icon_checked INTEGER,
  items INTEGER NOT NULL DEFAULT 0,
  unread INTEGER NOT NULL DEFAULT 0
);

CREATE TABLE icons (
  feed INTEGER PRIMARY KEY REFERENCES feeds (id) ON DELETE CASCADE,
  url TEXT NOT NULL,
  type INTEGER NOT NULL,
  bytes BLOB NOT NULL
);

CREATE TABLE stories (
  id INTEGER PRIMARY KEY,
  representative INTEGER NOT NULL,
  count INTEGER NOT NULL DEFAULT 0,
  sources INTEGER NOT NULL DEFAULT 0,
  first INTEGER NOT NULL DEFAULT 0,
  last INTEGER NOT NULL DEFAULT 0,
  read INTEGER NOT NULL DEFAULT 0,
  starred INTEGER NOT NULL DEFAULT 0,
  hidden INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX stories_shown ON stories (last, id) WHERE hidden = 0;
CREATE INDEX stories_unread ON stories (last, id) WHERE hidden = 0 AND read = 0;
CREATE INDEX stories_starred ON stories (last, id) WHERE starred = 1;

CREATE TABLE items (
  id INTEGER PRIMARY KEY,
  feed INTEGER NOT NULL REFERENCES feeds (id),
  story INTEGER NOT NULL REFERENCES stories (id) DEFERRABLE INITIALLY DEFERRED,
  tier INTEGER NOT NULL,
  similarity REAL NOT NULL,
  published INTEGER NOT NULL,
  first_seen INTEGER NOT NULL,
  present INTEGER NOT NULL,
  guid TEXT NOT NULL,
  url TEXT NOT NULL,
  title TEXT NOT NULL,
  summary TEXT NOT NULL,
  author TEXT NOT NULL,
  image TEXT NOT NULL,
  signature BLOB
);
CREATE UNIQUE INDEX items_by_guid ON items (feed, guid);
CREATE INDEX items_by_story ON items (story, published, id, feed);
CREATE INDEX items_present ON items (feed, guid) WHERE present = 1;

CREATE TABLE story_feeds (
  feed INTEGER NOT NULL,
  unread INTEGER NOT NULL,
  last INTEGER NOT NULL,
  story INTEGER NOT NULL,
  PRIMARY KEY (feed, unread, last, story)
) WITHOUT ROWID;
CREATE INDEX story_feeds_by_story ON story_feeds (story);

CREATE TABLE lsh_bands (
  band_index INTEGER NOT NULL,
  band_hash INTEGER NOT NULL,
  item INTEGER NOT NULL,
  PRIMARY KEY (band_index, band_hash, item)
) WITHOUT ROWID;

CREATE TABLE aliases (
  story INTEGER PRIMARY KEY,
  target INTEGER NOT NULL REFERENCES stories (id) DEFERRABLE INITIALLY DEFERRED
);
CREATE INDEX aliases_by_target ON aliases (target);

CREATE TABLE corrections (
  id INTEGER PRIMARY KEY,
  kind INTEGER NOT NULL,
  item INTEGER,
  story INTEGER,
  other INTEGER,
  open_story INTEGER,
  open_other INTEGER,
  made INTEGER NOT NULL
);

CREATE TABLE grouper_snapshot (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  arrival INTEGER NOT NULL,
  state BLOB NOT NULL
);
CREATE TABLE grouped_texts (
  item INTEGER PRIMARY KEY REFERENCES items (id) ON DELETE CASCADE,
  title TEXT NOT NULL,
  summary TEXT NOT NULL,
  url TEXT NOT NULL
);

CREATE VIRTUAL TABLE item_words USING fts5 (
  title, summary, content = '', tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3'
);
CREATE TRIGGER items_added AFTER INSERT ON items BEGIN
  INSERT INTO item_words (rowid, title, summary)
  VALUES (new.id, spaced(new.title), spaced(new.summary));
END;
CREATE TRIGGER items_removed AFTER DELETE ON items BEGIN
  INSERT INTO item_words (item_words, rowid, title, summary)
  VALUES ('delete', old.id, spaced(old.title), spaced(old.summary));
END;
CREATE TRIGGER items_changed AFTER UPDATE OF title, summary ON items BEGIN
  INSERT INTO item_words (item_words, rowid, title, summary)
  VALUES ('delete', old.id, spaced(old.title), spaced(old.summary));
  INSERT INTO item_words (rowid, title, summary)
  VALUES (new.id, spaced(new.title), spaced(new.summary));
END;
)sql";

// An older, closed story with the same text.
constexpr const char* kVersion2 = "ALTER TABLE stories ADD COLUMN repeats INTEGER;";

// Settings of grouping. Empty tables mean the defaults.
constexpr const char* kVersion3 = R"sql(
CREATE TABLE settings (name TEXT PRIMARY KEY, value REAL NOT NULL) STRICT;
CREATE TABLE preferred_sources (rank INTEGER PRIMARY KEY, source TEXT NOT NULL) STRICT;
)sql";

// Whether an item was seen is stored per item, so that it survives merges and splits of stories:
// `unseen` has the items that were not seen, stories.unseen is their number, and a story is read if
// that is 0. `marked_read` has the items of the last "mark all as read" requests, for undo.
//
// stories.place is the time that timelines are ordered by: that of the newest item, or `lifted`,
// when news joined a story that was read or hidden.
//
// A removed feed keeps its row for as long as a starred story has items of it. feeds.preference is
// the rank of a preferred source.
constexpr const char* kVersion4 = R"sql(
CREATE TABLE unseen (
  story INTEGER NOT NULL,
  item INTEGER NOT NULL,
  PRIMARY KEY (story, item)
) WITHOUT ROWID;
INSERT INTO unseen
  SELECT i.story, i.id FROM items i JOIN stories s ON s.id = i.story WHERE s.read = 0;
CREATE TRIGGER unseen_moved AFTER UPDATE OF story ON items BEGIN
  UPDATE unseen SET story = new.story WHERE story = old.story AND item = old.id;
END;
CREATE TRIGGER unseen_removed AFTER DELETE ON items BEGIN
  DELETE FROM unseen WHERE story = old.story AND item = old.id;
END;
CREATE TABLE marked_read (
  mark INTEGER NOT NULL,
  item INTEGER NOT NULL,
  PRIMARY KEY (mark, item)
) WITHOUT ROWID;

ALTER TABLE stories ADD COLUMN unseen INTEGER NOT NULL DEFAULT 0;
ALTER TABLE stories ADD COLUMN lifted INTEGER NOT NULL DEFAULT 0;
ALTER TABLE stories ADD COLUMN place INTEGER NOT NULL DEFAULT 0;
UPDATE stories SET place = last, unseen = CASE read WHEN 0 THEN count ELSE 0 END;
DROP INDEX stories_shown;
DROP INDEX stories_unread;
DROP INDEX stories_starred;
CREATE INDEX stories_shown ON stories (place, id) WHERE hidden = 0;
CREATE INDEX stories_unread ON stories (place, id) WHERE hidden = 0 AND read = 0;
CREATE INDEX stories_starred ON stories (place, id) WHERE starred = 1;
CREATE INDEX stories_hidden ON stories (place, id) WHERE hidden = 1;

DROP TABLE story_feeds;
CREATE TABLE story_feeds (
  feed INTEGER NOT NULL,
  unread INTEGER NOT NULL,
  place INTEGER NOT NULL,
  story INTEGER NOT NULL,
  PRIMARY KEY (feed, unread, place, story)
) WITHOUT ROWID;
CREATE INDEX story_feeds_by_story ON story_feeds (story);
INSERT INTO story_feeds (feed, unread, place, story)
  SELECT DISTINCT i.feed, NOT s.read, s.place, s.id
  FROM stories s JOIN items i ON i.story = s.id WHERE NOT s.hidden;

ALTER TABLE feeds ADD COLUMN removed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE feeds ADD COLUMN preference INTEGER;
)sql";

constexpr std::array kSteps{kVersion1, kVersion2, kVersion3, kVersion4};

Result<std::int64_t> version_of(NewsDatabase& database) {
  KIN_TRY(const auto version, database.number("PRAGMA user_version"));
  return version.value_or(0);
}

Error too_new(const NewsDatabase& database, std::int64_t version) {
  return {Code::kFailedPrecondition,
          fmt::format("{} was written by a newer kindred (its tables have version {}, this "
                      "program knows versions up to {}): use the newer program",
                      database.path().string(), version, news_version())};
}

}  // namespace

int news_version() {
  return static_cast<int>(kSteps.size());
}

Status migrate(NewsDatabase& database) {
  KIN_TRY(const std::int64_t found, version_of(database));
  if (found > news_version()) return too_new(database, found);
  // Version n is step n - 1. A crash between two steps leaves a version from which the next start
  // continues.
  for (int version = static_cast<int>(found); version < news_version(); ++version) {
    KIN_TRY(NewsTransaction step, NewsTransaction::begin(database));
    KIN_RETURN_IF_ERROR(database.run_script(kSteps[static_cast<std::size_t>(version)]));
    // In the same transaction as the tables that it describes.
    KIN_RETURN_IF_ERROR(database.run_script(fmt::format("PRAGMA user_version = {};", version + 1)));
    KIN_RETURN_IF_ERROR(step.commit());
  }
  return Done{};
}

Status check_version(NewsDatabase& database) {
  KIN_TRY(const std::int64_t found, version_of(database));
  if (found > news_version()) return too_new(database, found);
  if (found == news_version()) return Done{};
  return Error{Code::kFailedPrecondition,
               fmt::format("{} was written by an older kindred and must be upgraded first: run "
                           "`kindred feeds refresh` once",
                           database.path().string())};
}

}  // namespace kin::stories
