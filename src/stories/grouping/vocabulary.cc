#include "stories/grouping/vocabulary.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <ranges>

#include "base/check.h"
#include "base/hash.h"
#include "stories/grouping/background.h"

namespace kin::stories {
namespace {

// The background counts like this many stories of this many words.
constexpr double kBackgroundStories = 100;
constexpr double kWordsOfStory = 9;
// All counts are halved above this many stories, so that words that were common long ago become
// rare again.
constexpr double kMostStories = 5'000;
// Terms below this count, after halving, are treated as new.
constexpr double kLeastKept = 0.3;
// The rarest word of the background has about this share.
constexpr double kLeastShare = 1e-5;
// Words below this share are names more often than not.
constexpr double kUncommonShare = 2e-5;
constexpr double kBackgroundPower = 0.2;
constexpr double kGrowth = 0.3;
// How rare a term is among headlines limits its evidence, by this factor.
constexpr double kHeadlineFactor = 1.5;
constexpr double kUnseenHeadlines = 20;
// A label of fewer stories may belong to one event ("Storm Edgar: …").
constexpr double kStoriesOfColumn = 5;

double kind_weight(TermKind kind) {
  switch (kind) {
    case TermKind::kWord: return 1;
    case TermKind::kPair: return 0.4;
    case TermKind::kNumber: return 0.6;
    case TermKind::kYear: return 0.3;
    case TermKind::kDay: return 0.3;
    case TermKind::kPrefix: return 0.5;
    case TermKind::kLabel: return 0;
  }
  KIN_UNREACHABLE();
}

// Pairs and prefixes repeat the evidence of their words; years and weekdays are in titles of any
// event.
bool is_evidence(TermKind kind) {
  return kind == TermKind::kWord || kind == TermKind::kNumber;
}

// The weight of a story that has a term in this many headlines: the power kGrowth.
double stories_of(std::uint32_t headlines) {
  constexpr std::size_t kTable = 64;
  static const std::array<double, kTable> kPowers = [] {
    std::array<double, kTable> powers{};
    for (std::size_t i = 1; i < kTable; ++i) powers[i] = std::pow(static_cast<double>(i), kGrowth);
    return powers;
  }();
  return headlines < kTable ? kPowers[headlines] : std::pow(headlines, kGrowth);
}

double share_of(TermKind kind, std::string_view text) {
  if (kind == TermKind::kPair) return 0;
  return kind == TermKind::kPrefix ? background_prefix_share(text) : background_share(text);
}

std::uint64_t hash_of(TermKind kind, std::string_view text, std::uint64_t seed = 0) {
  const std::uint64_t hash = hash64(text, seed * 8 + static_cast<std::uint64_t>(kind) + 1);
  // 0 marks a free id.
  return hash == 0 ? 1 : hash;
}

}  // namespace

Vocabulary::Vocabulary(std::vector<Term> terms, double stories, double headlines)
    : stories_(stories), headlines_(headlines) {
  entries_.reserve(terms.size());
  for (const Term& term : terms) {
    const TermId id{static_cast<std::uint32_t>(entries_.size())};
    entries_.push_back({term, constants_of(term)});
    if (term.key == 0) {
      free_.push_back(id);
    } else if (!ids_.find(term.key)) {
      ids_.insert(term.key, id);
    }
  }
  std::ranges::reverse(free_);
}

std::vector<Vocabulary::Term> Vocabulary::terms() const {
  std::vector<Term> terms;
  terms.reserve(entries_.size());
  for (const Entry& entry : entries_) terms.push_back(entry.term);
  return terms;
}

Vocabulary::Constants Vocabulary::constants_of(const Term& term) {
  const double expected = std::min(1.0, kWordsOfStory * term.share);
  const double rareness =
      std::log(1 / std::min(1.0, expected + kLeastShare)) / -std::log(kLeastShare);
  Constants constants{.background = kBackgroundStories * expected + 0.5,
                      .rareness = std::max(0.02, rareness),
                      .factor = kind_weight(term.kind)};
  constants.factor *= std::pow(constants.rareness, 2 * kBackgroundPower);
  if (!is_evidence(term.kind)) constants.rareness = 0;
  return constants;
}

Vocabulary::Key Vocabulary::key_of(TermKind kind, std::string_view text) {
  return {hash_of(kind, text), kind};
}

Vocabulary::Key Vocabulary::key_of_pair(std::string_view first, std::string_view second) {
  return {hash_of(TermKind::kPair, second, hash64(first)), TermKind::kPair};
}

TermId Vocabulary::intern(const Key& key, std::string_view text) {
  if (const auto found = ids_.find(key.hash)) return *found;
  return add(key, share_of(key.kind, text));
}

TermId Vocabulary::add(const Key& key, double share) {
  if (free_.empty()) {
    free_.push_back(TermId{static_cast<std::uint32_t>(entries_.size())});
    entries_.emplace_back();
  }
  const TermId id = free_.back();
  free_.pop_back();
  Entry& entry = entries_[index(id)];
  entry.term = {.key = key.hash, .kind = key.kind, .share = static_cast<float>(share)};
  entry.constants = constants_of(entry.term);
  ids_.insert(key.hash, id);
  return id;
}

void Vocabulary::recount(TermId id, std::uint32_t before, std::uint32_t after) {
  double& stories = entries_[index(id)].term.stories;
  // It may have been halved since it was counted.
  stories = std::max(0.0, stories + stories_of(after) - stories_of(before));
  double& headlines = entries_[index(id)].term.headlines;
  headlines = std::max(0.0, headlines + after - before);
}

void Vocabulary::count_spelling(TermId id, bool capital) {
  Term& term = entries_[index(id)].term;
  ++term.shown;
  if (capital) ++term.capital;
}

void Vocabulary::fade(std::size_t open_stories, const std::function<bool(TermId)>& is_used) {
  if (stories_ <= std::max(kMostStories, 2.0 * static_cast<double>(open_stories))) return;
  stories_ /= 2;
  headlines_ /= 2;
  free_.clear();
  for (std::size_t i = entries_.size(); i-- > 0;) {
    Term& term = entries_[i].term;
    const TermId id{static_cast<std::uint32_t>(i)};
    term.stories /= 2;
    term.headlines /= 2;
    if (term.key != 0 && term.stories < kLeastKept && !is_used(id)) {
      ids_.erase(term.key);
      term = {};
    }
    if (term.key == 0) free_.push_back(id);
  }
}

double Vocabulary::rarity(const Entry& entry) const {
  const double held = entry.term.stories + entry.constants.background;
  return std::log((stories_ + kBackgroundStories + 1) / held);
}

double Vocabulary::weight(const Entry& entry, double rarity) const {
  const double rare = std::max(0.01, rarity);
  const double weight = entry.constants.factor * rare * rare;
  return entry.term.kind == TermKind::kWord ? weight * (0.6 + name_chance(entry.term)) : weight;
}

double Vocabulary::evidence(const Entry& entry, double rarity) const {
  const double rareness = entry.constants.rareness;
  if (rareness == 0) return 0;
  // A word in most headlines is not evidence, even if all of them are in one story.
  const double in_headlines =
      std::log((headlines_ + kUnseenHeadlines) / (entry.term.headlines + 0.5));
  return rareness * std::max(0.01, std::min(rarity, kHeadlineFactor * in_headlines));
}

double Vocabulary::weight(TermId id) const {
  const Entry& entry = entries_[index(id)];
  return weight(entry, rarity(entry));
}

double Vocabulary::evidence(TermId id) const {
  const Entry& entry = entries_[index(id)];
  return evidence(entry, rarity(entry));
}

Vocabulary::Weighed Vocabulary::weigh(TermId id) const {
  const Entry& entry = entries_[index(id)];
  const double rare = rarity(entry);
  return {.weight = weight(entry, rare), .evidence = evidence(entry, rare)};
}

double Vocabulary::chance() const {
  constexpr double kUsual = 1'000;
  return std::max(1.0, std::log(stories_ + kBackgroundStories) / std::log(kUsual));
}

bool Vocabulary::is_column_label(TermId id) const {
  const Term& term = this->term(id);
  return term.kind == TermKind::kLabel && term.stories >= kStoriesOfColumn;
}

double Vocabulary::name_chance(TermId id) const {
  return name_chance(term(id));
}

double Vocabulary::name_chance(const Term& term) {
  const bool uncommon = term.share < kUncommonShare;
  return (term.capital + (uncommon ? 0.5 : 0)) / (term.shown + (uncommon ? 0.7 : 1.5));
}

}  // namespace kin::stories
