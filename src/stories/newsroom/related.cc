#include "stories/newsroom/related.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <set>
#include <string>

#include "base/ascii.h"
#include "text/normalize.h"
#include "text/stop_words.h"
#include "text/words.h"

namespace kin::stories {
namespace {

constexpr std::int64_t kMostTitles = 30;
constexpr std::size_t kMostWords = 10;
// Words in more items than this, or in more than one item in fifty, are too common.
constexpr std::int64_t kCommonFrom = 12;
constexpr std::int64_t kOneIn = 50;
// Most items with such words that are read, the newest first.
constexpr std::int64_t kMostItems = 500;
constexpr double kLeastShare = 0.35;
constexpr std::chrono::hours kNear{24 * 31};

using Weights = std::map<std::string, double, std::less<>>;

bool may_tell(std::string_view word) {
  const bool has_digit = std::ranges::any_of(word, is_ascii_digit);
  // Numbers without letters are mostly years and counts; "m4" is a name.
  if (has_digit) return word.size() >= 2 && !std::ranges::all_of(word, is_ascii_digit);
  // In a small collection articles and prepositions are not frequent enough to be noticed.
  static constexpr const char* kLanguages[] = {"english", "german",     "french",
                                               "spanish", "portuguese", "italian"};
  return word.size() >= 3 && std::ranges::none_of(kLanguages, [&](const char* language) {
           return text::is_stop_word(word, language);
         });
}

// As the full-text index has them: in lower case, without accents.
std::set<std::string> words_of(std::string_view title) {
  std::string plain;
  text::normalize(title, text::Normalization::kAggressive, plain);
  std::vector<std::string_view> words;
  text::split_words(plain, text::Normalization::kStandard, words);
  std::set<std::string> found;
  for (const std::string_view word : words) {
    if (may_tell(word)) found.emplace(word);
  }
  return found;
}

// The number of headlines with the word; `most` if there are that many or more.
Result<std::int64_t> items_with(NewsDatabase& database, const std::string& word,
                                std::int64_t most) {
  KIN_TRY(const auto count,
          database.number("SELECT count(*) FROM "
                          "(SELECT 1 FROM item_words WHERE item_words MATCH ? LIMIT ?)",
                          fmt::format("title : \"{}\"", word), most));
  return count.value_or(0);
}

// The rarest words that the story's headlines share with others, with their information in bits.
Result<Weights> telling_words(NewsDatabase& database, StoryId story) {
  std::map<std::string, int> titles_with;
  int titles = 0;
  NewsQuery row =
      database.query("SELECT title FROM items WHERE story = ? ORDER BY published DESC LIMIT ?",
                     story, kMostTitles);
  for (; row.next(); ++titles)
    for (const std::string& word : words_of(row.text())) ++titles_with[word];
  KIN_RETURN_IF_ERROR(row.status());
  KIN_TRY(const auto items, database.number("SELECT sum(items) FROM feeds"));
  const std::int64_t all = std::max<std::int64_t>(items.value_or(0), 1);
  const std::int64_t too_many = std::max(kCommonFrom, all / kOneIn) + 1;
  std::vector<std::pair<double, std::string>> rated;
  for (const auto& [word, count] : titles_with) {
    KIN_TRY(const std::int64_t having, items_with(database, word, too_many));
    // No other headline has the word, or too many have it.
    if (having <= count || having == too_many) continue;
    // A word in few of the headlines may be incidental.
    const double part = std::min(1.0, 2.0 * count / titles);
    rated.emplace_back(
        part * std::log2(1.0 + static_cast<double>(all) / static_cast<double>(having)), word);
  }
  std::ranges::sort(rated, std::greater<>());
  if (rated.size() > kMostWords) rated.resize(kMostWords);
  Weights weights;
  for (auto& [weight, word] : rated) weights.emplace(std::move(word), weight);
  return weights;
}

std::string any_of(const Weights& words) {
  std::string match;
  for (const auto& [word, weight] : words)
    match += fmt::format("{}\"{}\"", match.empty() ? "title : (" : " OR ", word);
  return match + ")";
}

struct Shared {
  double weight = 0;
  std::size_t words = 0;
};

Shared shared_with(const Weights& words, std::string_view title) {
  Shared shared;
  for (const std::string& word : words_of(title)) {
    const auto found = words.find(word);
    if (found == words.end()) continue;
    shared.weight += found->second;
    ++shared.words;
  }
  return shared;
}

}  // namespace

Result<std::vector<StoryId>> related_to(NewsDatabase& database, StoryId story, std::size_t most) {
  KIN_TRY(const Weights words, telling_words(database, story));
  std::vector<StoryId> related;
  if (words.size() < 2) return related;
  KIN_TRY(const auto last, database.number("SELECT last FROM stories WHERE id = ?", story));
  double all = 0;
  for (const auto& [word, weight] : words) all += weight;
  std::map<StoryId, double> scores;
  NewsQuery row = database.query(R"sql(
      SELECT i.story, i.title FROM item_words w JOIN items i ON i.id = w.rowid
             JOIN stories s ON s.id = i.story
      WHERE item_words MATCH ?1 AND s.hidden = 0 AND abs(s.last - ?2) <= ?3
      ORDER BY w.rowid DESC LIMIT ?4)sql",
                                 any_of(words), last.value_or(0),
                                 std::chrono::seconds(kNear).count(), kMostItems);
  while (row.next()) {
    const auto other = row.id<StoryId>();
    const Shared shared = shared_with(words, row.text());
    if (other == story || shared.words < 2 || shared.weight < kLeastShare * all) continue;
    double& score = scores[other];
    score = std::max(score, shared.weight);
  }
  KIN_RETURN_IF_ERROR(row.status());
  std::vector<std::pair<double, StoryId>> ranked;
  for (const auto& [other, score] : scores) ranked.emplace_back(score, other);
  // Ties are broken in favour of the newer story.
  std::ranges::sort(ranked, std::greater<>());
  for (const auto& [score, other] : ranked) {
    if (related.size() < most) related.push_back(other);
  }
  return related;
}

}  // namespace kin::stories
