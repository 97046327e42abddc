#include "stories/grouping/vocabulary.h"

#include <cmath>

#include "base/hash.h"
#include "stories/grouping/background.h"

namespace kin::stories {
namespace {

// The background list counts like this many stories of this many words.
constexpr double kBackgroundStories = 11'000;
constexpr double kWordsOfStory = 9;
// All counts are halved after this many stories, so that words of old news become rare again.
constexpr double kFadeAfter = 200'000;

}  // namespace

std::size_t Vocabulary::TextHash::operator()(std::string_view text) const {
  return hash64(text);
}

Vocabulary::Vocabulary(std::vector<Term> terms, double stories) : stories_(stories) {
  // Makes the ids and the background; the counts come from `terms`.
  for (const Term& term : terms) intern(term.text);
  terms_ = std::move(terms);
}

TermId Vocabulary::intern(std::string_view text) {
  if (const auto found = ids_.find(text); found != ids_.end()) return found->second;
  const TermId id{static_cast<std::uint32_t>(terms_.size())};
  terms_.push_back({.text = std::string(text)});
  background_.push_back(background_share(text) * kBackgroundStories * kWordsOfStory);
  ids_.emplace(text, id);
  return id;
}

void Vocabulary::count_story() {
  stories_ += 1;
  if (stories_ < kFadeAfter) return;
  stories_ /= 2;
  for (Term& term : terms_) {
    term.stories /= 2;
    term.capital /= 2;
    term.shown /= 2;
  }
}

void Vocabulary::count_spelling(TermId id, bool capital) {
  Term& term = terms_[index(id)];
  ++term.shown;
  if (capital) ++term.capital;
}

double Vocabulary::rarity(TermId id) const {
  const double held = background_[index(id)] + terms_[index(id)].stories;
  // Inverse document frequency, smoothed by the background list.
  return std::log(1 + (kBackgroundStories + stories_ + 1) / (held + 1));
}

double Vocabulary::name_chance(TermId id) const {
  const Term& term = terms_[index(id)];
  // Half a headline on each side, so that a new word has a chance of 0.5.
  return (term.capital + 0.5) / (term.shown + 1.0);
}

}  // namespace kin::stories
