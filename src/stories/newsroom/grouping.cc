#include "stories/newsroom/grouping.h"

#include <algorithm>
#include <limits>
#include <set>

#include "stories/grouping/state_format.h"

namespace kin::stories {
namespace {

// The columns of an item as it was when it was grouped. Its feed may have changed it since.
Item read_grouped_item(NewsQuery& row) {
  Item item;
  item.id = row.id<ItemId>();
  item.title = row.text();
  item.published_at = row.integer();
  item.source = row.text();
  item.summary = row.text();
  item.url = row.text();
  item.guid = row.text();
  item.grouped = row.id<Tier>() != Tier::kUngrouped;
  return item;
}

void replay_correction(NewsQuery& row, Grouper& grouper) {
  const auto kind = row.id<CorrectionKind>();
  const auto item = row.id<ItemId>();
  const auto story = row.id<StoryId>();
  const auto other = row.id<StoryId>();
  switch (kind) {
    case CorrectionKind::kSeparate: separate_in(grouper, item); return;
    // If it fails now, it also failed when the correction was made.
    case CorrectionKind::kUnite: (void)grouper.unite(story, other); return;
  }
}

Status replay(NewsDatabase& database, std::uint64_t from, Grouper& grouper) {
  NewsQuery items = database.query(R"sql(
      SELECT i.id, coalesce(g.title, i.title), i.published, f.source,
             coalesce(g.summary, i.summary), coalesce(g.url, i.url), i.guid, i.tier
      FROM items i JOIN feeds f ON f.id = i.feed LEFT JOIN grouped_texts g ON g.item = i.id
      WHERE i.id >= ? ORDER BY i.id)sql",
                                   from);
  NewsQuery corrections = database.query(
      "SELECT id, kind, item, open_story, open_other FROM corrections WHERE id >= ? ORDER BY id",
      from);
  // Items and corrections share one sequence, so the two lists are merged by their numbers.
  bool more = corrections.next();
  std::int64_t corrected = more ? corrections.integer() : 0;
  const auto correct_before = [&](std::int64_t arrival) {
    while (more && corrected < arrival) {
      replay_correction(corrections, grouper);
      more = corrections.next();
      if (more) corrected = corrections.integer();
    }
  };
  while (items.next()) {
    const Item item = read_grouped_item(items);
    correct_before(static_cast<std::int64_t>(number(item.id)));
    grouper.add(item);
  }
  KIN_RETURN_IF_ERROR(items.status());
  correct_before(std::numeric_limits<std::int64_t>::max());
  // The database has them already.
  (void)grouper.take_changes();
  return corrections.status();
}

struct Snapshot {
  std::uint64_t next_arrival = 0;
  std::optional<GrouperState> state;  // empty if it cannot be read
};

Result<Snapshot> read_snapshot(NewsDatabase& database) {
  NewsQuery row = database.query("SELECT arrival, state FROM grouper_snapshot");
  Snapshot snapshot{.next_arrival = 0, .state = GrouperState{}};
  if (row.next()) {
    snapshot.next_arrival = row.count();
    auto state = decode_state(row.text());
    // A snapshot that cannot be read is not an error: the stored stories are adopted instead.
    snapshot.state = state.ok() ? std::optional(std::move(*state)) : std::nullopt;
  }
  KIN_RETURN_IF_ERROR(row.status());
  return snapshot;
}

using StoryPairs = std::set<std::pair<StoryId, StoryId>>;

// Pairs of stories that the user separated.
Result<StoryPairs> read_separated(NewsDatabase& database) {
  StoryPairs apart;
  NewsQuery row = database.query("SELECT kind, story, other FROM corrections ORDER BY id");
  while (row.next()) {
    const auto kind = row.id<CorrectionKind>();
    const auto story = row.id<StoryId>();
    const auto other = row.id<StoryId>();
    // Stories may have been merged since.
    KIN_TRY(const StoryId a, stored_story(database, story));
    KIN_TRY(const StoryId b, stored_story(database, other));
    if (kind == CorrectionKind::kUnite) {
      apart.erase(std::minmax(a, b));
    } else if (a != b) {
      apart.insert(std::minmax(a, b));
    }
  }
  KIN_RETURN_IF_ERROR(row.status());
  return apart;
}

Status adopt_stored(NewsDatabase& database, const Settings& settings, Grouper& grouper) {
  KIN_TRY(const auto newest, database.number("SELECT max(last) FROM stories"));
  // Only stories that are still open matter to the grouper.
  const std::int64_t from = newest.value_or(0) - std::chrono::seconds(settings.window).count();
  NewsQuery row = database.query(R"sql(
      SELECT i.id, coalesce(g.title, i.title), i.published, f.source,
             coalesce(g.summary, i.summary), coalesce(g.url, i.url), i.guid, i.tier,
             s.id, i.tier, i.similarity, s.representative = i.id
      FROM stories s JOIN items i ON i.story = s.id JOIN feeds f ON f.id = i.feed
           LEFT JOIN grouped_texts g ON g.item = i.id
      WHERE s.last >= ? ORDER BY i.id)sql",
                                 from);
  while (row.next()) {
    const Item item = read_grouped_item(row);
    const Adopted place{.story = row.id<StoryId>(),
                        .tier = row.id<Tier>(),
                        .similarity = row.real(),
                        .is_representative = row.truth()};
    grouper.adopt(item, place);
  }
  (void)grouper.take_changes();
  return row.status();
}

Result<Grouper> rebuild(NewsDatabase& database, const Settings& settings,
                        const Grouper::Model& model, GrouperState words) {
  KIN_TRY(const StoryPairs apart, read_separated(database));
  GrouperState state;
  // The vocabulary is kept: without it, all words would count as rare for a while.
  state.terms = std::move(words.terms);
  state.counted_stories = words.counted_stories;
  state.counted_headlines = words.counted_headlines;
  KIN_TRY(state.next_story, read_counter(database, "next_story"));
  state.apart.assign(apart.begin(), apart.end());
  // Without vectors so far: the model's mean is learned again.
  state.meaning = Grouper(settings, model).export_state().meaning;
  KIN_TRY(Grouper grouper, Grouper::restore(settings, std::move(state), model));
  KIN_RETURN_IF_ERROR(adopt_stored(database, settings, grouper));
  return grouper;
}

}  // namespace

StoryId separate_in(Grouper& grouper, ItemId item) {
  const auto place = grouper.find(item);
  // An open story with other items.
  if (place && grouper.story(place->story)->size() > 1) {
    const auto own = grouper.separate(item);
    KIN_CHECK(own.ok(), "an item of an open story can be separated");
    return *own;
  }
  // The grouper has the item alone, or does not have it: the rest of its story is closed.
  grouper.forget(item);
  return grouper.reserve_story();
}

Result<std::uint64_t> read_counter(NewsDatabase& database, std::string_view name) {
  KIN_TRY(const auto value, database.number("SELECT value FROM counters WHERE name = ?", name));
  return static_cast<std::uint64_t>(value.value_or(1));
}

Result<StoryId> stored_story(NewsDatabase& database, StoryId story) {
  KIN_TRY(const auto target, database.number("SELECT target FROM aliases WHERE story = ?", story));
  return target ? static_cast<StoryId>(*target) : story;
}

Result<bool> agrees(NewsDatabase& database, const Grouper& grouper) {
  KIN_TRY(const std::uint64_t next_story, read_counter(database, "next_story"));
  // Equal counters mean that the replay opened as many stories as were stored.
  if (grouper.next_story() != next_story) return false;
  for (const StoryId id : grouper.open_story_ids()) {
    KIN_TRY(const StoryId stored, stored_story(database, id));
    for (const Member& member : grouper.story(id)->members) {
      KIN_TRY(const auto found,
              database.number("SELECT story FROM items WHERE id = ?", member.item));
      if (!found || static_cast<StoryId>(*found) != stored) return false;
    }
  }
  return true;
}

Result<Grouper> load_grouper(NewsDatabase& database, const Settings& settings,
                             const Grouper::Model& model) {
  KIN_TRY(Snapshot snapshot, read_snapshot(database));
  if (!snapshot.state) return rebuild(database, settings, model, {});
  GrouperState words;
  words.terms = snapshot.state->terms;
  words.counted_stories = snapshot.state->counted_stories;
  words.counted_headlines = snapshot.state->counted_headlines;
  auto grouper = Grouper::restore(settings, std::move(*snapshot.state), model);
  if (!grouper.ok()) {
    // Other word vectors do not invalidate the counts.
    if (grouper.error().code != Code::kFailedPrecondition) words = {};
    return rebuild(database, settings, model, std::move(words));
  }
  // A replay of few items is faster than a snapshot at every change.
  KIN_RETURN_IF_ERROR(replay(database, snapshot.next_arrival, *grouper));
  KIN_TRY(const bool same, agrees(database, *grouper));
  if (!same) return rebuild(database, settings, model, std::move(words));
  return grouper;
}

Status save_grouper(NewsDatabase& database, const Grouper& grouper, std::uint64_t next_arrival) {
  const std::string state = encode_state(grouper.export_state());
  KIN_RETURN_IF_ERROR(
      database.run("INSERT OR REPLACE INTO grouper_snapshot (id, arrival, state) VALUES (1, ?, ?)",
                   next_arrival, Blob{state}));
  // Texts are only kept for the replay, which starts after this snapshot.
  return database.run("DELETE FROM grouped_texts");
}

Result<std::uint64_t> replayed_from(NewsDatabase& database) {
  KIN_TRY(const auto arrival, database.number("SELECT arrival FROM grouper_snapshot"));
  return static_cast<std::uint64_t>(arrival.value_or(0));
}

}  // namespace kin::stories
