#include "stories/grouping/features.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/hash.h"
#include "text/normalize.h"

namespace kin::stories {
namespace {

// Headlines about one thing share names and model numbers. They share common words by chance.
constexpr double kMixedWeight = 1.8;
constexpr double kNumberWeight = 1.0;
constexpr double kNameWeight = 1.8;
constexpr double kNameChance = 0.6;
// Some summaries are whole articles. The beginning is enough.
constexpr std::size_t kSummaryBytes = 600;
constexpr std::size_t kTextTerms = 32;
constexpr std::size_t kTitleTerms = 48;
// Titles with fewer terms, such as "Photos of the day", are too general.
constexpr std::size_t kTellingTerms = 3;

constexpr auto kCountedThings = std::to_array<std::string_view>(
    {"day", "episod", "flight", "game", "level", "magnitud", "no", "number", "part", "phas",
     "round", "season", "stag", "version", "volum", "week"});
constexpr auto kDays = std::to_array<std::string_view>(
    {"apr",   "april",    "aug", "august",  "dec",       "decemb",   "december", "feb",  "february",
     "fri",   "friday",   "jan", "january", "july",      "jul",      "jun",      "june", "mar",
     "march", "may",      "mon", "monday",  "morn",      "nov",      "november", "oct",  "october",
     "sat",   "saturday", "sep", "sept",    "september", "sun",      "sunday",   "thu",  "thursday",
     "today", "tonight",  "tue", "tuesday", "wed",       "wednesday"});

template <typename Words>
bool holds(const Words& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

bool is_ordinal(std::string_view word) {
  const std::size_t digits = std::min(word.find_first_not_of("0123456789"), word.size());
  if (digits == 0) return false;
  const std::string_view ending = word.substr(digits);
  return ending == "st" || ending == "nd" || ending == "rd" || ending == "th";
}

bool is_plain_number(std::string_view word) {
  return word.find_first_not_of("0123456789.") == std::string_view::npos;
}

bool is_year(std::string_view word) {
  return word.size() == 4 && is_plain_number(word) &&
         (word.starts_with("19") || word.starts_with("20"));
}

bool is_magnitude(std::string_view word) {
  return word == "magnitud" || word == "earthquak" || word == "quak";
}

// The place of a number, from the words beside it; 0 if the number only counts something.
std::uint64_t place_of(const std::vector<HeadlineWord>& words, std::size_t i, bool title_case) {
  const HeadlineWord& word = words[i];
  const bool has_next = i + 1 < words.size() && !words[i + 1].after_gap;
  const bool has_previous = i > 0 && !word.after_gap;
  if (is_ordinal(word.stem)) return has_next ? hash64(words[i + 1].stem, 1) : 0;
  if (!is_plain_number(word.stem) || is_year(word.stem)) return 0;
  if (word.stem.find('.') != std::string::npos &&
      ((has_next && is_magnitude(words[i + 1].stem)) ||
       (has_previous && is_magnitude(words[i - 1].stem))))
    return hash64("magnitude", 2);
  if (!has_previous) return 0;
  const HeadlineWord& previous = words[i - 1];
  const bool names = previous.mixed || (previous.capital && !title_case && !previous.first);
  if (!names && !holds(kCountedThings, previous.stem)) return 0;
  return hash64(previous.stem, 3);
}

std::string_view beginning(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  const std::size_t space = text.substr(0, bytes).rfind(' ');
  return text.substr(0, space == std::string_view::npos ? bytes : space);
}

std::uint64_t key_of_template(std::string_view source, const Headline& headline) {
  std::uint64_t key = hash64(source, 4);
  for (const HeadlineWord& word : headline.words) {
    if (!word.number && !holds(kDays, word.stem)) key = hash64(word.stem, key);
  }
  return key;
}

}  // namespace

Features FeatureReader::read(const Item& item, Vocabulary& vocabulary) {
  Features features;
  const std::string_view title = bare_title(item.title, item.source);
  read_headline(title, headline_);
  weigh_title(features, vocabulary);
  find_numbers(features);
  if (!item.summary.empty()) weigh_summary(item, features, vocabulary);
  // Keys of such titles would join items that have nothing in common.
  if (features.title.size() < kTellingTerms) return features;
  std::string normal;
  text::normalize(title, text::Normalization::kStandard, normal);
  features.title_key = hash64(normal);
  features.template_key = key_of_template(item.source, headline_);
  return features;
}

void FeatureReader::weigh_title(Features& features, Vocabulary& vocabulary) {
  terms_.clear();
  weights_.clear();
  for (const HeadlineWord& word : headline_.words) {
    const TermId term = vocabulary.intern(word.stem);
    const bool again = std::ranges::find(terms_, term) != terms_.end();
    terms_.push_back(term);
    if (again) continue;
    if (!headline_.title_case && !word.first) vocabulary.count_spelling(term, word.capital);
    const double name_chance = vocabulary.name_chance(term);
    weights_.push_back(
        {term, static_cast<float>(spelling_weight(word, name_chance) * vocabulary.rarity(term))});
    if (is_name(word, name_chance)) features.names.push_back({term, word.mixed});
  }
  std::ranges::sort(features.names, {}, &NameMark::term);
  take_weights(features.title, kTitleTerms);
}

double FeatureReader::spelling_weight(const HeadlineWord& word, double name_chance) const {
  if (word.mixed) return kMixedWeight;
  if (word.number) return kNumberWeight;
  if (!word.capital) return 1;
  if (!headline_.title_case && !word.first) return kNameWeight;
  return 1 + (kNameWeight - 1) * name_chance;
}

bool FeatureReader::is_name(const HeadlineWord& word, double name_chance) const {
  if (word.mixed) return !is_ordinal(word.stem);
  if (!word.capital) return false;
  return (!headline_.title_case && !word.first) || name_chance > kNameChance;
}

void FeatureReader::find_numbers(Features& features) const {
  for (std::size_t i = 0; i < headline_.words.size(); ++i) {
    if (!headline_.words[i].number) continue;
    const std::uint64_t place = place_of(headline_.words, i, headline_.title_case);
    if (place != 0) features.numbers.push_back({place, terms_[i]});
  }
}

void FeatureReader::weigh_summary(const Item& item, Features& features, Vocabulary& vocabulary) {
  Headline summary;
  read_headline(beginning(item.summary, kSummaryBytes), summary);
  weights_.clear();
  const auto add = [&](TermId term, double weight) {
    if (std::ranges::find(weights_, term, &TermWeight::term) != weights_.end()) return;
    weights_.push_back({term, static_cast<float>(weight * vocabulary.rarity(term))});
  };
  for (std::size_t i = 0; i < terms_.size(); ++i)
    add(terms_[i], spelling_weight(headline_.words[i], vocabulary.name_chance(terms_[i])));
  for (const HeadlineWord& word : summary.words) {
    const bool name = word.mixed || (word.capital && !word.first);
    add(vocabulary.intern(word.stem), name ? kNameWeight : 1);
  }
  take_weights(features.text, kTextTerms);
}

void FeatureReader::take_weights(TermVector& vector, std::size_t most) {
  if (weights_.size() > most) {
    std::ranges::sort(weights_, [](const TermWeight& a, const TermWeight& b) {
      return a.weight != b.weight ? a.weight > b.weight : a.term < b.term;
    });
    weights_.resize(most);
  }
  std::ranges::sort(weights_, {}, &TermWeight::term);
  double square = 0;
  for (const TermWeight& term : weights_) square += double{term.weight} * term.weight;
  const double length = std::sqrt(square);
  vector = weights_;
  for (TermWeight& term : vector) term.weight = static_cast<float>(term.weight / length);
}

}  // namespace kin::stories
