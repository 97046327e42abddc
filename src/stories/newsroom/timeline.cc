#include "stories/newsroom/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "base/ascii.h"
#include "stories/newsroom/grouping.h"

namespace kin::stories {
namespace {

constexpr std::size_t kLargestPage = 200;
// SQLite's LIMIT is signed.
constexpr std::size_t kEverything = std::numeric_limits<std::int64_t>::max();

// The place of a story in the timeline. The newest comes first.
struct Place {
  std::int64_t last = std::numeric_limits<std::int64_t>::max();
  std::int64_t story = std::numeric_limits<std::int64_t>::max();
  friend auto operator<=>(const Place&, const Place&) = default;
};

Place read_place(NewsQuery& row) {
  return {.last = row.integer(), .story = row.integer()};
}

Result<Place> place_of(const std::string& cursor) {
  // Above every story.
  if (cursor.empty()) return Place{};
  std::string_view rest = cursor;
  const auto last = parse_number<std::int64_t>(take_until(rest, "."));
  const auto story = parse_number<std::int64_t>(rest);
  if (last && story) return Place{*last, *story};
  return Error{Code::kInvalidArgument,
               "this is not a position in the timeline (use `next` of the page before, unchanged)"};
}

// A query with its feeds and words resolved.
class Selection {
 public:
  static Result<Selection> of(NewsDatabase& database, const TimelineQuery& query);

  // The first `most` places below `before`.
  Result<std::vector<Place>> places(Place before, std::size_t most);
  Result<std::uint64_t> count_unread();

 private:
  Selection(NewsDatabase& database, const TimelineQuery& query)
      : database_(database), query_(query) {}
  Status find_feeds();
  Result<std::vector<Place>> of_all(Place before, std::size_t most);
  Result<std::vector<Place>> of_feeds(Place before, std::size_t most);
  Status of_feed(FeedId feed, bool unread, Place before, std::size_t most,
                 std::vector<Place>& places);
  Result<std::vector<Place>> of_starred(Place before, std::size_t most);
  Result<std::vector<Place>> places_without_text(Place before, std::size_t most);
  Result<std::vector<Place>> of_text(Place before, std::size_t most);
  Result<std::optional<std::set<std::int64_t>>> few_matching(const std::string& match);
  Result<std::vector<Place>> among(const std::set<std::int64_t>& stories, Place before,
                                   std::size_t most);
  Result<std::vector<Place>> of_many_matches(const std::string& match, Place before,
                                             std::size_t most);
  // The places whose stories have the words.
  Result<std::set<std::int64_t>> matching_among(const std::string& match,
                                                std::span<const Place> places);
  Result<bool> has_feed(std::int64_t story);

  NewsDatabase& database_;
  const TimelineQuery& query_;
  bool narrowed_ = false;  // only stories of feeds_ are shown
  std::vector<FeedId> feeds_;
};

Result<Selection> Selection::of(NewsDatabase& database, const TimelineQuery& query) {
  Selection selection(database, query);
  KIN_RETURN_IF_ERROR(selection.find_feeds());
  return selection;
}

Status Selection::find_feeds() {
  // A folder without feeds shows nothing, not everything.
  narrowed_ = query_.feed || !query_.folder.empty();
  if (!narrowed_) return Done{};
  KIN_TRY(feeds_, read_ids<FeedId>(database_.query(R"sql(
      SELECT id FROM feeds WHERE (?1 IS NULL OR id = ?1)
        AND (?2 = '' OR folder = ?2 OR substr(folder, 1, length(?2) + 1) = ?2 || '/'))sql",
                                                   query_.feed, query_.folder)));
  if (query_.feed && query_.folder.empty() && feeds_.empty()) return no_such_feed(*query_.feed);
  return Done{};
}

Result<std::vector<Place>> Selection::places(Place before, std::size_t most) {
  return query_.text.empty() ? places_without_text(before, most) : of_text(before, most);
}

Result<std::vector<Place>> Selection::places_without_text(Place before, std::size_t most) {
  if (query_.starred_only) return of_starred(before, most);
  return narrowed_ ? of_feeds(before, most) : of_all(before, most);
}

Result<std::vector<Place>> Selection::of_all(Place before, std::size_t most) {
  // Two statements, because each has a partial index of its own.
  const char* const sql = query_.unread_only ? R"sql(
      SELECT last, id FROM stories WHERE hidden = 0 AND read = 0 AND (last, id) < (?, ?)
      ORDER BY last DESC, id DESC LIMIT ?)sql"
                                             : R"sql(
      SELECT last, id FROM stories WHERE hidden = 0 AND (last, id) < (?, ?)
      ORDER BY last DESC, id DESC LIMIT ?)sql";
  return read_all(database_.query(sql, before.last, before.story, most), read_place);
}

// Merges feeds: the first `most` of all are among the first `most` of each.
Result<std::vector<Place>> Selection::of_feeds(Place before, std::size_t most) {
  std::vector<Place> places;
  for (const FeedId feed : feeds_) {
    KIN_RETURN_IF_ERROR(of_feed(feed, true, before, most, places));
    if (!query_.unread_only) KIN_RETURN_IF_ERROR(of_feed(feed, false, before, most, places));
  }
  // A story with items of several feeds is found several times.
  std::ranges::sort(places, std::greater<>());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  if (places.size() > most) places.resize(most);
  return places;
}

Status Selection::of_feed(FeedId feed, bool unread, Place before, std::size_t most,
                          std::vector<Place>& places) {
  NewsQuery row = database_.query(R"sql(
      SELECT last, story FROM story_feeds WHERE feed = ? AND unread = ? AND (last, story) < (?, ?)
      ORDER BY last DESC, story DESC LIMIT ?)sql",
                                  feed, unread, before.last, before.story, most);
  while (row.next()) places.push_back(read_place(row));
  return row.status();
}

Result<std::vector<Place>> Selection::of_starred(Place before, std::size_t most) {
  NewsQuery row = database_.query(R"sql(
      SELECT last, id FROM stories WHERE starred = 1 AND (?3 = 0 OR read = 0)
        AND (last, id) < (?1, ?2) ORDER BY last DESC, id DESC)sql",
                                  before.last, before.story, query_.unread_only);
  std::vector<Place> places;
  while (places.size() < most && row.next()) {
    const Place place = read_place(row);
    KIN_TRY(const bool matches, has_feed(place.story));
    if (matches) places.push_back(place);
  }
  KIN_RETURN_IF_ERROR(row.status());
  return places;
}

// Puts each word in quotes, so that nothing in it is an operator. The last word is a prefix. A word
// that the index splits becomes a phrase.
std::string words_to_match(std::string_view text) {
  std::string match;
  while (!text.empty()) {
    const std::string words = spaced(take_until(text, " \t\r\n"));
    if (!words.empty()) match += (match.empty() ? "\"" : " \"") + words + '"';
  }
  // People see results while they still type the last word.
  return match.empty() ? match : match + "*";
}

Result<std::vector<Place>> Selection::of_text(Place before, std::size_t most) {
  const std::string match = words_to_match(query_.text);
  if (match.empty()) return std::vector<Place>();
  // Rare words: sort all matches. Common words: walk down the timeline and check.
  KIN_TRY(const auto few, few_matching(match));
  return few ? among(*few, before, most) : of_many_matches(match, before, most);
}

// The stories that have the words; nothing if too many items match.
Result<std::optional<std::set<std::int64_t>>> Selection::few_matching(const std::string& match) {
  // Each match costs a look at its story.
  constexpr std::int64_t kFew = 4'000;
  NewsQuery row = database_.query(R"sql(
      SELECT i.story FROM item_words w JOIN items i ON i.id = w.rowid
      WHERE item_words MATCH ? LIMIT ?)sql",
                                  match, kFew + 1);
  std::set<std::int64_t> stories;
  std::int64_t items = 0;
  for (; row.next(); ++items) stories.insert(row.integer());
  KIN_RETURN_IF_ERROR(row.status());
  if (items > kFew) return std::optional<std::set<std::int64_t>>();
  return std::optional(std::move(stories));
}

Result<std::vector<Place>> Selection::among(const std::set<std::int64_t>& stories, Place before,
                                            std::size_t most) {
  std::vector<Place> places;
  for (const std::int64_t story : stories) {
    KIN_TRY(const auto place,
            read_first(database_.query(R"sql(
        SELECT last, id FROM stories WHERE id = ?1 AND (?2 = 0 OR read = 0)
          AND CASE ?3 WHEN 1 THEN starred = 1 ELSE hidden = 0 END)sql",
                                       story, query_.unread_only, query_.starred_only),
                       read_place));
    if (place) places.push_back(*place);
  }
  std::ranges::sort(places, std::greater<>());
  std::vector<Place> chosen;
  for (const Place& place : places) {
    if (chosen.size() == most) break;
    // On an earlier page.
    if (place >= before) continue;
    KIN_TRY(const bool matches, has_feed(place.story));
    if (matches) chosen.push_back(place);
  }
  return chosen;
}

// Checks stories from the top, some at a time. Items of neighbouring stories have similar ids, so
// each lookup reads a small part of the index.
Result<std::vector<Place>> Selection::of_many_matches(const std::string& match, Place before,
                                                      std::size_t most) {
  constexpr std::size_t kMostAtOnce = 2'048;
  std::vector<Place> chosen;
  // Portions grow, so that few matches in a long timeline need few queries.
  for (std::size_t at_once = 128; chosen.size() < most;
       at_once = std::min(2 * at_once, kMostAtOnce)) {
    KIN_TRY(const std::vector<Place> next, places_without_text(before, at_once));
    KIN_TRY(const auto matching, matching_among(match, next));
    for (const Place& place : next) {
      if (chosen.size() < most && matching.contains(place.story)) chosen.push_back(place);
    }
    // The end of the timeline.
    if (next.size() < at_once) break;
    before = next.back();
  }
  return chosen;
}

Result<std::set<std::int64_t>> Selection::matching_among(const std::string& match,
                                                         std::span<const Place> places) {
  // The full-text index has no stories, so its rows are mapped back to them.
  std::unordered_map<std::int64_t, std::int64_t> stories;  // by item
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  std::int64_t last = 0;
  for (const Place& place : places) {
    NewsQuery row = database_.query("SELECT id FROM items WHERE story = ?", place.story);
    while (row.next()) {
      const std::int64_t item = row.integer();
      first = std::min(first, item);
      last = std::max(last, item);
      stories.emplace(item, place.story);
    }
    KIN_RETURN_IF_ERROR(row.status());
  }
  std::set<std::int64_t> found;
  NewsQuery row = database_.query(
      "SELECT rowid FROM item_words WHERE item_words MATCH ? AND rowid BETWEEN ? AND ?", match,
      first, last);
  while (row.next()) {
    if (const auto story = stories.find(row.integer()); story != stories.end())
      found.insert(story->second);
  }
  KIN_RETURN_IF_ERROR(row.status());
  return found;
}

Result<bool> Selection::has_feed(std::int64_t story) {
  // All feeds.
  if (!narrowed_) return true;
  NewsQuery row = database_.query("SELECT DISTINCT feed FROM items WHERE story = ?", story);
  bool found = false;
  while (!found && row.next()) found = std::ranges::find(feeds_, row.id<FeedId>()) != feeds_.end();
  KIN_RETURN_IF_ERROR(row.status());
  return found;
}

Result<std::uint64_t> Selection::count_unread() {
  // Starred stories are few, so they are counted by listing them.
  if (query_.starred_only) {
    TimelineQuery unread = query_;
    unread.text.clear();
    unread.unread_only = true;
    KIN_TRY(Selection selection, of(database_, unread));
    KIN_TRY(const auto places, selection.of_starred({}, kEverything));
    return places.size();
  }
  if (!narrowed_ || feeds_.size() == 1) {
    KIN_TRY(const auto count,
            narrowed_
                ? database_.number("SELECT unread FROM feeds WHERE id = ?", feeds_.front())
                : database_.number("SELECT count(*) FROM stories WHERE hidden = 0 AND read = 0"));
    return static_cast<std::uint64_t>(count.value_or(0));
  }
  // A story may be in several feeds of the folder, so their counters cannot be added.
  std::unordered_set<std::int64_t> stories;
  for (const FeedId feed : feeds_) {
    NewsQuery row =
        database_.query("SELECT story FROM story_feeds WHERE feed = ? AND unread = 1", feed);
    while (row.next()) stories.insert(row.integer());
    KIN_RETURN_IF_ERROR(row.status());
  }
  return stories.size();
}

ItemView read_item(NewsQuery& row) {
  ItemView item;
  item.id = row.id<ItemId>();
  item.feed = row.id<FeedId>();
  item.title = row.text();
  item.url = row.text();
  item.summary = row.text();
  item.author = row.text();
  item.published = row.time();
  item.similarity = row.real();
  item.tier = row.id<Tier>();
  return item;
}

// Without the other items. kNotFound if there is no such story.
Result<StoryView> read_head(NewsDatabase& database, StoryId story) {
  NewsQuery row = database.query(R"sql(
      SELECT s.count, s.sources, s.first, s.last, s.read, s.starred, s.hidden, s.repeats,
             i.id, i.feed, i.title, i.url, i.summary, i.author, i.published, i.similarity, i.tier
      FROM stories s JOIN items i ON i.id = s.representative WHERE s.id = ?)sql",
                                 story);
  if (!row.next()) {
    KIN_RETURN_IF_ERROR(row.status());
    return no_such_story(story);
  }
  StoryView view;
  view.id = story;
  view.count = row.count();
  view.sources = row.count();
  view.first = row.time();
  view.last = row.time();
  view.read = row.truth();
  view.starred = row.truth();
  view.hidden = row.truth();
  // Asked before the column is read, which moves on to the next one.
  const bool repeats = !row.is_null();
  const auto repeated = row.id<StoryId>();
  if (repeats) view.repeats = repeated;
  view.representative = read_item(row);
  return view;
}

}  // namespace

Result<StoryView> read_story(NewsDatabase& database, StoryId story) {
  KIN_TRY(const NewsTransaction transaction, NewsTransaction::begin_reading(database));
  KIN_TRY(const StoryId stored, stored_story(database, story));
  auto view = read_head(database, stored);
  // The message names the id that was asked for, not the one behind the alias.
  if (!view.ok() && view.error().code == Code::kNotFound && stored != story)
    return no_such_story(story);
  if (!view.ok()) return view;
  KIN_TRY(view->others, read_all(database.query(R"sql(
      SELECT id, feed, title, url, summary, author, published, similarity, tier
      FROM items WHERE story = ? AND id <> ? ORDER BY published, id)sql",
                                                stored, view->representative.id),
                                 read_item));
  return view;
}

Result<TimelinePage> read_timeline(NewsDatabase& database, const TimelineQuery& query) {
  KIN_TRY(const Place before, place_of(query.before));
  KIN_TRY(const NewsTransaction transaction, NewsTransaction::begin_reading(database));
  KIN_TRY(Selection selection, Selection::of(database, query));
  const std::size_t limit = std::clamp<std::size_t>(query.limit, 1, kLargestPage);
  // One more than shown tells whether there is a next page.
  KIN_TRY(std::vector<Place> places, selection.places(before, limit + 1));
  TimelinePage page;
  if (places.size() > limit) {
    places.pop_back();
    page.next = fmt::format("{}.{}", places.back().last, places.back().story);
  }
  for (const Place& place : places) {
    KIN_TRY(StoryView view, read_head(database, static_cast<StoryId>(place.story)));
    // Most stories have one item, and need no second query.
    if (view.count > 1 && query.most_others > 0) {
      KIN_TRY(view.others,
              read_all(database.query(R"sql(
          SELECT id, feed, title, url, summary, author, published, similarity, tier
          FROM items WHERE story = ? AND id <> ? ORDER BY published DESC, id DESC LIMIT ?)sql",
                                      place.story, view.representative.id, query.most_others),
                       read_item));
    }
    page.stories.push_back(std::move(view));
  }
  KIN_TRY(page.unread, selection.count_unread());
  return page;
}

Result<std::vector<StoryId>> read_unread(NewsDatabase& database, const TimelineQuery& query) {
  KIN_TRY(const NewsTransaction transaction, NewsTransaction::begin_reading(database));
  TimelineQuery unread = query;
  unread.unread_only = true;
  KIN_TRY(Selection selection, Selection::of(database, unread));
  KIN_TRY(const std::vector<Place> places, selection.places({}, kEverything));
  std::vector<StoryId> stories;
  stories.reserve(places.size());
  for (const Place& place : places) stories.push_back(static_cast<StoryId>(place.story));
  return stories;
}

}  // namespace kin::stories
