#include "stories/newsroom/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "base/ascii.h"
#include "stories/newsroom/grouping.h"
#include "stories/newsroom/lead.h"
#include "stories/newsroom/related.h"
#include "text/normalize.h"

namespace kin::stories {
namespace {

constexpr std::size_t kLargestPage = 200;
// SQLite's LIMIT is signed.
constexpr std::size_t kEverything = std::numeric_limits<std::int64_t>::max();

// The place of a story in the timeline. The newest comes first.
struct Place {
  std::int64_t at = std::numeric_limits<std::int64_t>::max();
  std::int64_t story = std::numeric_limits<std::int64_t>::max();
  friend auto operator<=>(const Place&, const Place&) = default;
};

Place read_place(NewsQuery& row) {
  return {.at = row.integer(), .story = row.integer()};
}

Result<Place> place_of(const std::string& cursor) {
  // A place above every story.
  if (cursor.empty()) return Place{};
  std::string_view rest = cursor;
  const auto at = parse_number<std::int64_t>(take_until(rest, "."));
  const auto story = parse_number<std::int64_t>(rest);
  if (at && story) return Place{*at, *story};
  return Error{Code::kInvalidArgument,
               "this is not a position in the timeline (use `next` of the page before, unchanged)"};
}

// Words that nearly every text has. A search for them alone would list everything.
bool is_common_word(std::string_view word) {
  static const std::set<std::string_view> kCommon{
      "a",   "an",   "and", "are",  "as",   "at",   "be",    "but",  "by",   "das",  "de",
      "der", "des",  "du",  "ein",  "eine", "el",   "en",    "et",   "for",  "from", "had",
      "has", "have", "he",  "her",  "his",  "i",    "if",    "il",   "in",   "into", "is",
      "it",  "its",  "la",  "las",  "le",   "les",  "los",   "my",   "of",   "on",   "or",
      "our", "she",  "so",  "than", "that", "the",  "their", "then", "they", "this", "to",
      "un",  "und",  "une", "was",  "we",   "were", "will",  "with", "you",  "your"};
  return kCommon.contains(word);
}

// A search, in the form of the index and in that of the reader.
struct Search {
  // Each word is quoted, so that it cannot contain operators; a word that the index splits is a
  // phrase. Empty if all words are common.
  std::string match;
  std::vector<SearchedWord> words;
};

Search search_for(std::string_view text) {
  Search search;
  std::string plain;
  while (!text.empty()) {
    const std::string_view typed = take_until(text, " \t\r\n");
    const std::string words = spaced(typed);
    text::normalize(words, text::Normalization::kAggressive, plain);
    if (plain.empty() || is_common_word(plain)) continue;
    // People see results while they are still typing the last word.
    const bool last = text.empty();
    search.match += (search.match.empty() ? "\"" : " \"") + words + (last ? "\"*" : "\"");
    search.words.push_back({plain, last});
  }
  return search;
}

// A query with its feeds and words resolved.
class Selection {
 public:
  static Result<Selection> of(NewsDatabase& database, const TimelineQuery& query);

  // The first `most` places below `before`.
  Result<std::vector<Place>> places(Place before, std::size_t most);
  // The items that have the words of the search, and their stories.
  struct Matching {
    std::set<std::int64_t> items;
    std::set<std::int64_t> stories;
  };
  Result<Matching> matching_among(std::span<const Place> places);
  const std::vector<SearchedWord>& words() const { return search_.words; }
  // The restrictions without the search.
  Scope scope() const {
    return narrowed_ ? Scope{.feeds = std::span<const FeedId>(feeds_)} : Scope{};
  }
  Result<std::uint64_t> count_unread();

 private:
  Selection(NewsDatabase& database, const TimelineQuery& query)
      : database_(database), query_(query), search_(search_for(query.text)) {}
  Status find_feeds();
  Result<std::vector<Place>> of_all(Place before, std::size_t most);
  Result<std::vector<Place>> of_feeds(Place before, std::size_t most);
  Status of_feed(FeedId feed, bool unread, Place before, std::size_t most,
                 std::vector<Place>& places);
  // Starred or hidden stories.
  Result<std::vector<Place>> of_marked(Place before, std::size_t most);
  Result<std::vector<Place>> places_without_text(Place before, std::size_t most);
  Result<std::vector<Place>> of_text(Place before, std::size_t most);
  Result<std::optional<std::set<std::int64_t>>> few_matching();
  Result<std::vector<Place>> among(const std::set<std::int64_t>& stories, Place before,
                                   std::size_t most);
  Result<std::vector<Place>> of_many_matches(Place before, std::size_t most);
  Result<bool> has_feed(std::int64_t story);

  NewsDatabase& database_;
  const TimelineQuery& query_;
  const Search search_;
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
      SELECT id FROM feeds WHERE removed = 0 AND (?1 IS NULL OR id = ?1)
        AND (?2 = '' OR folder = ?2 OR substr(folder, 1, length(?2) + 1) = ?2 || '/'))sql",
                                                   query_.feed, query_.folder)));
  if (query_.feed && query_.folder.empty() && feeds_.empty()) return no_such_feed(*query_.feed);
  return Done{};
}

Result<std::vector<Place>> Selection::places(Place before, std::size_t most) {
  return query_.text.empty() ? places_without_text(before, most) : of_text(before, most);
}

Result<std::vector<Place>> Selection::places_without_text(Place before, std::size_t most) {
  if (query_.starred_only || query_.hidden_only) return of_marked(before, most);
  return narrowed_ ? of_feeds(before, most) : of_all(before, most);
}

Result<std::vector<Place>> Selection::of_all(Place before, std::size_t most) {
  // Two statements, because each has a partial index of its own.
  const char* const sql = query_.unread_only ? R"sql(
      SELECT place, id FROM stories WHERE hidden = 0 AND read = 0 AND (place, id) < (?, ?)
      ORDER BY place DESC, id DESC LIMIT ?)sql"
                                             : R"sql(
      SELECT place, id FROM stories WHERE hidden = 0 AND (place, id) < (?, ?)
      ORDER BY place DESC, id DESC LIMIT ?)sql";
  return read_all(database_.query(sql, before.at, before.story, most), read_place);
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
      SELECT place, story FROM story_feeds WHERE feed = ? AND unread = ? AND (place, story) < (?, ?)
      ORDER BY place DESC, story DESC LIMIT ?)sql",
                                  feed, unread, before.at, before.story, most);
  while (row.next()) places.push_back(read_place(row));
  return row.status();
}

Result<std::vector<Place>> Selection::of_marked(Place before, std::size_t most) {
  // Each mark has an index of its own.
  const char* const sql = query_.starred_only ? R"sql(
      SELECT place, id FROM stories WHERE starred = 1 AND (?3 = 0 OR read = 0)
        AND (?4 = 0 OR hidden = 1) AND (place, id) < (?1, ?2) ORDER BY place DESC, id DESC)sql"
                                              : R"sql(
      SELECT place, id FROM stories WHERE hidden = 1 AND (?3 = 0 OR read = 0)
        AND (?4 = 0 OR hidden = 1) AND (place, id) < (?1, ?2) ORDER BY place DESC, id DESC)sql";
  NewsQuery row =
      database_.query(sql, before.at, before.story, query_.unread_only, query_.hidden_only);
  std::vector<Place> places;
  while (places.size() < most && row.next()) {
    const Place place = read_place(row);
    KIN_TRY(const bool matches, has_feed(place.story));
    if (matches) places.push_back(place);
  }
  KIN_RETURN_IF_ERROR(row.status());
  return places;
}

Result<std::vector<Place>> Selection::of_text(Place before, std::size_t most) {
  if (search_.match.empty()) return std::vector<Place>();
  // Rare words: sort all matches. Common words: walk down the timeline and check.
  KIN_TRY(const auto few, few_matching());
  return few ? among(*few, before, most) : of_many_matches(before, most);
}

// The stories that have the words; nothing if too many items match.
Result<std::optional<std::set<std::int64_t>>> Selection::few_matching() {
  // Each match costs a look-up of its story.
  constexpr std::int64_t kFew = 4'000;
  NewsQuery row = database_.query(R"sql(
      SELECT i.story FROM item_words w JOIN items i ON i.id = w.rowid
      WHERE item_words MATCH ? LIMIT ?)sql",
                                  search_.match, kFew + 1);
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
    KIN_TRY(const auto place, read_first(database_.query(R"sql(
        SELECT place, id FROM stories WHERE id = ?1 AND (?2 = 0 OR read = 0)
          AND (?3 = 0 OR starred = 1) AND (?3 = 1 OR hidden = ?4))sql",
                                                         story, query_.unread_only,
                                                         query_.starred_only, query_.hidden_only),
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
Result<std::vector<Place>> Selection::of_many_matches(Place before, std::size_t most) {
  constexpr std::size_t kMostAtOnce = 2'048;
  std::vector<Place> chosen;
  // Portions grow, so that few matches in a long timeline need few queries.
  for (std::size_t at_once = 128; chosen.size() < most;
       at_once = std::min(2 * at_once, kMostAtOnce)) {
    KIN_TRY(const std::vector<Place> next, places_without_text(before, at_once));
    KIN_TRY(const auto matching, matching_among(next));
    for (const Place& place : next) {
      if (chosen.size() < most && matching.stories.contains(place.story)) chosen.push_back(place);
    }
    // The end of the timeline.
    if (next.size() < at_once) break;
    before = next.back();
  }
  return chosen;
}

Result<Selection::Matching> Selection::matching_among(std::span<const Place> places) {
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
  Matching found;
  NewsQuery row = database_.query(
      "SELECT rowid FROM item_words WHERE item_words MATCH ? AND rowid BETWEEN ? AND ?",
      search_.match, first, last);
  while (row.next()) {
    const auto story = stories.find(row.integer());
    if (story == stories.end()) continue;
    found.items.insert(story->first);
    found.stories.insert(story->second);
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
  // Starred and hidden stories are few, so they are counted by listing them.
  if (query_.starred_only || query_.hidden_only) {
    TimelineQuery unread = query_;
    unread.text.clear();
    unread.unread_only = true;
    KIN_TRY(Selection selection, of(database_, unread));
    KIN_TRY(const auto places, selection.of_marked({}, kEverything));
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

// The items of a story that are read.
struct Portion {
  StoryId story = kNoStory;
  ItemId lead{};
  std::size_t most = kEverything;
};

ItemView read_item(NewsQuery& row) {
  ItemView item;
  item.id = row.id<ItemId>();
  item.feed = row.id<FeedId>();
  item.source = row.text();
  item.title = row.text();
  item.url = row.text();
  item.summary = row.text();
  item.author = row.text();
  item.published = row.time();
  item.similarity = row.real();
  item.tier = row.id<Tier>();
  item.seen = row.truth();
  return item;
}

Result<ItemView> read_lead(NewsDatabase& database, ItemId lead) {
  KIN_TRY(auto found, read_first(database.query(R"sql(
      SELECT i.id, i.feed, CASE WHEN f.own_title <> '' THEN f.own_title
                                WHEN f.title <> '' THEN f.title ELSE f.url END,
             i.title, i.url, i.summary, i.author, i.published, i.similarity, i.tier,
             NOT EXISTS (SELECT 1 FROM unseen WHERE story = i.story AND item = i.id)
      FROM items i JOIN feeds f ON f.id = i.feed WHERE i.id = ?)sql",
                                                lead),
                                 read_item));
  KIN_CHECK(found, "the lead is an item");
  return std::move(*found);
}

// The newest items but the lead, the newest first.
Result<std::vector<ItemView>> read_others(NewsDatabase& database, const Portion& portion) {
  return read_all(database.query(R"sql(
      SELECT i.id, i.feed, CASE WHEN f.own_title <> '' THEN f.own_title
                                WHEN f.title <> '' THEN f.title ELSE f.url END,
             i.title, i.url, i.summary, i.author, i.published, i.similarity, i.tier,
             NOT EXISTS (SELECT 1 FROM unseen WHERE story = i.story AND item = i.id)
      FROM items i JOIN feeds f ON f.id = i.feed
      WHERE i.story = ? AND i.id <> ? ORDER BY i.published DESC, i.id DESC LIMIT ?)sql",
                                 portion.story, portion.lead, portion.most),
                  read_item);
}

// Without items. kNotFound if there is no such story.
Result<StoryView> read_head(NewsDatabase& database, StoryId story) {
  NewsQuery row = database.query(R"sql(
      SELECT s.count, s.sources, s.first, s.last, s.place, s.read, s.starred, s.hidden,
             CASE WHEN s.unseen < s.count THEN s.unseen ELSE 0 END,
             (SELECT max(id) + 1 FROM items WHERE story = s.id), s.repeats
      FROM stories s WHERE s.id = ?)sql",
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
  view.at = row.time();
  view.read = row.truth();
  view.starred = row.truth();
  view.hidden = row.truth();
  view.news = row.count();
  view.bound = row.id<ItemId>();
  if (!row.is_null()) view.repeats = row.id<StoryId>();
  return view;
}

Result<StoryView> read_shown(NewsDatabase& database, StoryId story, const Scope& scope,
                             std::size_t most_others) {
  KIN_TRY(StoryView view, read_head(database, story));
  KIN_TRY(const ItemId lead, lead_of(database, story, scope));
  KIN_TRY(view.representative, read_lead(database, lead));
  // Most stories have one item, and need no further query.
  if (view.count > 1 && most_others > 0) {
    KIN_TRY(view.others,
            read_others(database, {.story = story, .lead = lead, .most = most_others}));
  }
  return view;
}

}  // namespace

Result<StoryView> read_story(NewsDatabase& database, StoryId story, const TimelineQuery& scope) {
  KIN_TRY(const NewsTransaction transaction, NewsTransaction::begin_reading(database));
  KIN_TRY(const StoryId stored, stored_story(database, story));
  KIN_TRY(const Selection selection, Selection::of(database, scope));
  auto view = read_shown(database, stored, selection.scope(), kEverything);
  // The message names the requested id, not the one behind the alias.
  if (!view.ok() && view.error().code == Code::kNotFound && stored != story)
    return no_such_story(story);
  if (!view.ok()) return view;
  std::ranges::reverse(view->others);
  return view;
}

Result<std::vector<RelatedStory>> read_related(NewsDatabase& database, StoryId story,
                                               std::size_t most) {
  KIN_TRY(const NewsTransaction transaction, NewsTransaction::begin_reading(database));
  KIN_TRY(const StoryId stored, stored_story(database, story));
  KIN_TRY(const auto there, database.number("SELECT 1 FROM stories WHERE id = ?", stored));
  if (!there) return no_such_story(story);
  KIN_TRY(const std::vector<StoryId> found, related_to(database, stored, most));
  std::vector<RelatedStory> related;
  for (const StoryId other : found) {
    KIN_TRY(StoryView view, read_shown(database, other, {}, 0));
    related.push_back({.id = other,
                       .title = std::move(view.representative.title),
                       .count = view.count,
                       .sources = view.sources,
                       .last = view.last});
  }
  return related;
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
    page.next = fmt::format("{}.{}", places.back().at, places.back().story);
  }
  Scope scope = selection.scope();
  Selection::Matching matching;
  if (!selection.words().empty()) {
    KIN_TRY(matching, selection.matching_among(places));
    scope.items = &matching.items;
  }
  for (const Place& place : places) {
    KIN_TRY(StoryView view,
            read_shown(database, static_cast<StoryId>(place.story), scope, query.most_others));
    page.stories.push_back(std::move(view));
  }
  page.words = selection.words();
  KIN_TRY(page.unread, selection.count_unread());
  KIN_TRY(const std::uint64_t bound, read_counter(database, "next_arrival"));
  page.bound = static_cast<ItemId>(bound);
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
