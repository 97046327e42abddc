// The words of all headlines so far: how rare each is, and whether it is a name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "stories/ids.h"

namespace kin::stories {

// Counts stories, not headlines: a word that a hundred headlines of one story share is still rare.
// One thread only.
class Vocabulary {
 public:
  // What is kept of a term, for those who store it.
  struct Term {
    std::string text;
    double stories = 0;         // that hold it, faded
    std::uint32_t capital = 0;  // of the headlines where a capital letter says something
    std::uint32_t shown = 0;    // of those headlines, all that hold it
    friend bool operator==(const Term&, const Term&) = default;
  };

  Vocabulary() = default;
  // What an earlier vocabulary had kept.
  Vocabulary(std::vector<Term> terms, double stories);

  // The id of `text`, which is a new one if it was never seen.
  TermId intern(std::string_view text);
  const Term& term(TermId id) const { return terms_[index(id)]; }
  const std::vector<Term>& terms() const { return terms_; }
  double stories() const { return stories_; }

  // A new story; the counts of long ago fade as more come.
  void count_story();
  // `id` is new to a story.
  void count_in_story(TermId id) { terms_[index(id)].stories += 1; }
  // `id` stood where its spelling tells whether it is a name.
  void count_spelling(TermId id, bool capital);

  // How much a shared term tells: from almost 0 for "the" to about 10 for what was never seen.
  double rarity(TermId id) const;
  // The chance that the term is a name, by its spelling so far; one half if nothing is known.
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
