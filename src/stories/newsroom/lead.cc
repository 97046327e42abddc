#include "stories/newsroom/lead.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <vector>

#include "base/ascii.h"
#include "base/utf8.h"
#include "text/words.h"

namespace kin::stories {
namespace {

// Stories with hundreds of items need not be read to their end.
constexpr std::size_t kMostTitles = 30;

bool is_cut_off(std::string_view title) {
  return title.ends_with("…") || title.ends_with("...");
}

bool is_shouted(std::string_view title) {
  const auto lower = std::ranges::count_if(title, [](char c) { return c >= 'a' && c <= 'z'; });
  const auto upper = std::ranges::count_if(title, [](char c) { return c >= 'A' && c <= 'Z'; });
  // Acronyms alone do not make a title loud.
  return upper >= 12 && upper > 4 * lower;
}

bool is_labelled(std::string_view title) {
  static constexpr auto kLabels = std::to_array<std::string_view>(
      {"video", "watch", "photos", "in pictures", "gallery", "podcast", "listen", "live",
       "live updates", "live blog", "quiz", "opinion", "newsletter"});
  const std::size_t colon = title.find_first_of(":|");
  if (colon == std::string_view::npos) return false;
  const std::string label = ascii_lowered(trimmed(title.substr(0, colon)));
  return std::ranges::find(kLabels, label) != kLabels.end();
}

struct Candidate {
  std::int64_t item = 0;
  std::int64_t preference = std::numeric_limits<std::int64_t>::max();
  bool good = false;
};

// The newest first.
Result<std::vector<Candidate>> candidates(NewsDatabase& database, StoryId story,
                                          const Scope& scope) {
  std::vector<Candidate> found;
  NewsQuery row = database.query(R"sql(
      SELECT i.id, i.feed, f.preference IS NULL, f.preference, i.title
      FROM items i JOIN feeds f ON f.id = i.feed
      WHERE i.story = ? ORDER BY i.published DESC, i.id DESC)sql",
                                 story);
  while (row.next()) {
    Candidate one{.item = row.integer()};
    const auto feed = row.id<FeedId>();
    const bool indifferent = row.truth();
    const std::int64_t preference = row.integer();
    if (!indifferent) one.preference = preference;
    if (scope.feeds && std::ranges::find(*scope.feeds, feed) == scope.feeds->end()) continue;
    if (scope.items != nullptr && !scope.items->contains(one.item)) continue;
    // A preferred source may be further down.
    if (indifferent && found.size() >= kMostTitles) continue;
    one.good = is_good_headline(row.text());
    found.push_back(one);
  }
  KIN_RETURN_IF_ERROR(row.status());
  return found;
}

}  // namespace

bool is_good_headline(std::string_view title) {
  if (title.starts_with("http://") || title.starts_with("https://")) return false;
  if (is_cut_off(title) || is_shouted(title) || is_labelled(title)) return false;
  std::vector<std::string_view> words;
  // Scripts without spaces have one word a character.
  text::split_words(title, text::Normalization::kStandard, words);
  return words.size() >= 3;
}

Result<ItemId> lead_of(NewsDatabase& database, StoryId story, const Scope& scope) {
  KIN_TRY(auto found, candidates(database, story, scope));
  // The words of a search may be in the items of other feeds.
  if (found.empty() && scope.items != nullptr) {
    KIN_TRY(found, candidates(database, story, {.feeds = scope.feeds}));
  }
  if (found.empty()) {
    KIN_TRY(found, candidates(database, story, {}));
  }
  KIN_CHECK(!found.empty(), "a story has items");
  // Equal ones stay in order: the newest first.
  const auto best = std::ranges::min_element(
      found, {}, [](const Candidate& one) { return std::pair(one.preference, !one.good); });
  return static_cast<ItemId>(best->item);
}

}  // namespace kin::stories
