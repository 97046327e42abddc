#include "stories/grouping/features.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "base/hash.h"
#include "stories/grouping/background.h"
#include "text/normalize.h"

namespace kin::stories {
namespace {

// Some summaries are whole articles. The beginning is enough.
constexpr std::size_t kSummaryBytes = 600;
constexpr std::size_t kMostTerms = 96;
constexpr std::size_t kTitleWords = 40;
// Titles with fewer words, such as "Photos of the day", are too general for a key.
constexpr std::size_t kTellingWords = 3;
constexpr double kNameChance = 0.6;
// A title with a day in it, or with this few words, may be that of a column.
constexpr std::size_t kFewWords = 2;
constexpr std::size_t kFewWordsBesideNumber = 5;

constexpr auto kCountedThings = std::to_array<std::string_view>(
    {"day", "episod", "flight", "game", "level", "magnitud", "no", "number", "part", "phas",
     "round", "season", "stag", "version", "volum", "week"});
constexpr auto kDays = std::to_array<std::string_view>(
    {"apr",   "april",    "aug", "august",  "dec",       "decemb",   "december", "feb",  "february",
     "fri",   "friday",   "jan", "january", "july",      "jul",      "jun",      "june", "mar",
     "march", "may",      "mon", "monday",  "morn",      "nov",      "november", "oct",  "october",
     "sat",   "saturday", "sep", "sept",    "september", "sun",      "sunday",   "thu",  "thursday",
     "today", "tonight",  "tue", "tuesday", "wed",       "wednesday"});

constexpr auto kWeekdays = std::to_array<std::string_view>(
    {"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"});

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

TermKind kind_of(const HeadlineWord& word) {
  if (is_year(word.stem)) return TermKind::kYear;
  if (is_ascii_digit(word.stem[0])) return TermKind::kNumber;
  return holds(kWeekdays, word.stem) ? TermKind::kDay : TermKind::kWord;
}

}  // namespace

const ItemTerm* Features::find(TermId term) const {
  const auto found = std::ranges::lower_bound(terms, term, {}, &ItemTerm::term);
  return found != terms.end() && found->term == term ? &*found : nullptr;
}

bool Features::has_name(TermId term) const {
  return std::ranges::binary_search(names, term, {}, &NameMark::term);
}

Reading FeatureReader::read(const Item& item, Vocabulary& vocabulary) {
  Reading reading;
  Features& features = reading.features;
  const std::string_view title = bare_title(item.title, item.source);
  read_headline(title, headline_);
  if (headline_.words.size() > kTitleWords) headline_.words.resize(kTitleWords);
  read_title(features, vocabulary);
  read_label(title, features, vocabulary);
  find_numbers(features);
  find_places(features);
  find_frame(features, vocabulary);
  if (!item.summary.empty()) read_summary(item, features, vocabulary);
  std::ranges::sort(features.terms, {}, &ItemTerm::term);
  reading.column_key = column_key();
  reading.english = english_share(vocabulary);
  // Keys of such titles would join items that have nothing in common.
  if (headline_.words.size() < kTellingWords) return reading;
  std::string normal;
  text::normalize(title, text::Normalization::kStandard, normal);
  features.title_key = hash64(normal);
  features.template_key = key_of_template(item.source, headline_);
  return reading;
}

// The list is short, and sorted only when it is complete.
void FeatureReader::add(Features& features, TermId term, std::uint8_t count) {
  if (features.terms.size() >= kMostTerms) return;
  if (std::ranges::find(features.terms, term, &ItemTerm::term) == features.terms.end())
    features.terms.push_back({term, count});
}

TermId FeatureReader::add_word(const HeadlineWord& word, const Vocabulary::Key& key,
                               bool title_case, Features& features, Vocabulary& vocabulary,
                               std::uint8_t count) {
  const TermId term = vocabulary.intern(key, word.stem);
  const std::size_t before = features.terms.size();
  add(features, term, count);
  const bool is_new = features.terms.size() > before;
  if (is_new && key.kind == TermKind::kWord && !title_case && !word.first)
    vocabulary.count_spelling(term, word.capital);
  return term;
}

// Hashes all terms of the title before the first is looked up, so that the loads of a large
// vocabulary overlap.
void FeatureReader::find_keys(const Vocabulary& vocabulary) {
  keys_.clear();
  const HeadlineWord* previous = nullptr;
  for (const HeadlineWord& word : headline_.words) {
    WordKeys& keys = keys_.emplace_back();
    keys.word = Vocabulary::key_of(kind_of(word), word.stem);
    vocabulary.prefetch_id(keys.word);
    if (keys.word.kind == TermKind::kWord) keys.prefix_text = prefix_of(word.stem);
    if (!keys.prefix_text.empty()) {
      keys.prefix = Vocabulary::key_of(TermKind::kPrefix, keys.prefix_text);
      vocabulary.prefetch_id(keys.prefix);
    }
    if (previous != nullptr) {
      keys.pair = Vocabulary::key_of_pair(previous->stem, word.stem);
      vocabulary.prefetch_id(keys.pair);
    }
    previous = &word;
  }
  for (const WordKeys& keys : keys_) {
    vocabulary.prefetch_term(keys.word);
    if (!keys.prefix_text.empty()) vocabulary.prefetch_term(keys.prefix);
    if (keys.pair.hash != 0) vocabulary.prefetch_term(keys.pair);
  }
}

void FeatureReader::read_title(Features& features, Vocabulary& vocabulary) {
  find_keys(vocabulary);
  terms_.clear();
  for (std::size_t i = 0; i < headline_.words.size(); ++i) {
    const HeadlineWord& word = headline_.words[i];
    const WordKeys& keys = keys_[i];
    const TermId term =
        add_word(word, keys.word, headline_.title_case, features, vocabulary, kTitleCount);
    terms_.push_back(term);
    if (!keys.prefix_text.empty())
      add(features, vocabulary.intern(keys.prefix, keys.prefix_text), kTitleCount);
    if (i > 0) add(features, vocabulary.intern(keys.pair, {}), kTitleCount);
    if (is_name(word, vocabulary.name_chance(term))) features.names.push_back({term, word.mixed});
  }
  std::ranges::sort(features.names, {}, &NameMark::term);
  const auto repeats = std::ranges::unique(features.names, {}, &NameMark::term);
  features.names.erase(repeats.begin(), repeats.end());
}

void FeatureReader::read_label(std::string_view title, Features& features, Vocabulary& vocabulary) {
  const std::string_view label = label_of(title);
  if (label.empty()) return;
  std::string normal;
  text::normalize(label, text::Normalization::kStandard, normal);
  add(features, vocabulary.intern(TermKind::kLabel, normal), kTitleCount);
}

void FeatureReader::read_summary(const Item& item, Features& features, Vocabulary& vocabulary) {
  read_headline(beginning(item.summary, kSummaryBytes), summary_);
  for (const HeadlineWord& word : summary_.words)
    add_word(word, Vocabulary::key_of(kind_of(word), word.stem), summary_.title_case, features,
             vocabulary, kSummaryCount);
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
    if (place != 0) features.placed.push_back({PlacedTerm::beside(place), terms_[i]});
  }
}

// The place of a name is the word before or after it that is neither a name nor a number.
void FeatureReader::find_places(Features& features) const {
  const auto& words = headline_.words;
  const auto is_name = [&](std::size_t i) {
    return !words[i].number && features.has_name(terms_[i]);
  };
  const auto is_place = [&](std::size_t i) {
    return i < words.size() && !words[i].number && !is_name(i);
  };
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!is_name(i)) continue;
    if (i > 0 && is_place(i - 1))
      features.placed.push_back({PlacedTerm::beside(hash64(words[i - 1].stem, 7)), terms_[i]});
    if (is_place(i + 1) && !words[i + 1].first)
      features.placed.push_back({PlacedTerm::beside(hash64(words[i + 1].stem, 8)), terms_[i]});
  }
}

// The frame of "Turkey raises interest rates" is "… raises interest rates". Adjacent words that
// begin with a capital are one gap. The first word of a title is a gap unless it is mostly written
// in small letters elsewhere.
void FeatureReader::find_frame(Features& features, const Vocabulary& vocabulary) const {
  constexpr std::size_t kLeastWords = 3;
  const auto& words = headline_.words;
  if (headline_.title_case || words.size() < kLeastWords) return;
  const auto is_gap = [&](std::size_t i) {
    if (words[i].number || !words[i].capital) return words[i].number;
    const Vocabulary::Term& term = vocabulary.term(terms_[i]);
    return !words[i].first || 2 * term.capital >= term.shown;
  };
  std::uint64_t frame = 9;
  std::size_t plain = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool gap = is_gap(i);
    if (gap && i > 0 && is_gap(i - 1)) continue;
    frame = gap ? mix64(frame) : hash64(words[i].stem, frame);
    plain += gap ? 0 : 1;
  }
  if (plain == 0) return;
  std::uint64_t place = frame;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!is_gap(i)) continue;
    if (i == 0 || !is_gap(i - 1)) place = mix64(place);
    if (!words[i].number) features.placed.push_back({PlacedTerm::in_frame(place), terms_[i]});
  }
}

std::uint64_t FeatureReader::column_key() const {
  std::uint64_t key = 5;
  std::size_t words = 0;
  bool has_number = false;
  bool has_day = false;
  for (const HeadlineWord& word : headline_.words) {
    has_number |= is_ascii_digit(word.stem[0]);
    has_day |= holds(kDays, word.stem);
    if (is_ascii_digit(word.stem[0]) || holds(kDays, word.stem)) continue;
    key = hash64(word.stem, key);
    ++words;
  }
  const bool may_be_column =
      has_day || words <= kFewWords || (has_number && words <= kFewWordsBesideNumber);
  return may_be_column && !headline_.words.empty() ? key : 0;
}

double FeatureReader::english_share(const Vocabulary& vocabulary) const {
  std::size_t letters = 0;
  std::size_t known = 0;
  for (std::size_t i = 0; i < headline_.words.size(); ++i) {
    const std::string& stem = headline_.words[i].stem;
    if (is_ascii_digit(stem[0])) continue;
    letters += stem.size();
    if (vocabulary.term(terms_[i]).share > 0) known += stem.size();
  }
  return letters == 0 ? 0 : static_cast<double>(known) / static_cast<double>(letters);
}

}  // namespace kin::stories
