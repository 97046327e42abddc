// The words of all headlines so far: how rare they are, and whether they are names.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "stories/ids.h"

namespace kin::stories {

// Counts stories, not headlines: a word in a hundred headlines of one story is still rare. One
// thread only.
class Vocabulary {
 public:
  // A term as it is stored.
  struct Term {
    std::string text;
    double stories = 0;         // with the term; old ones count less
    std::uint32_t capital = 0;  // headlines with it capitalised, where that has a meaning
    std::uint32_t shown = 0;    // headlines with it, where a capital has a meaning
    friend bool operator==(const Term&, const Term&) = default;
  };

  Vocabulary() = default;
  // Restores a stored vocabulary.
  Vocabulary(std::vector<Term> terms, double stories);

  // The id of `text`. Adds it if it is new.
  TermId intern(std::string_view text);
  const Term& term(TermId id) const { return terms_[index(id)]; }
  const std::vector<Term>& terms() const { return terms_; }
  double stories() const { return stories_; }

  // Counts a new story. Older counts fade.
  void count_story();
  // Counts a story in which `id` occurs for the first time.
  void count_in_story(TermId id) { terms_[index(id)].stories += 1; }
  // Counts a headline in which the capital letter of `id` has a meaning.
  void count_spelling(TermId id, bool capital);

  // The weight of a term: from almost 0 for "the" to about 10 for a new word.
  double rarity(TermId id) const;
  // The probability that the term is a name, from its spelling so far; 0.5 if nothing is known.
  double name_chance(TermId id) const;

 private:
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const;
  };

  std::vector<Term> terms_;
  std::vector<double> background_;  // expected stories among kBackgroundStories, by term
  std::unordered_map<std::string, TermId, TextHash, std::equal_to<>> ids_;
  double stories_ = 0;
};

}  // namespace kin::stories
