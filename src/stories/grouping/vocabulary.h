// The terms of all headlines so far: how rare they are, and whether they are names.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "stories/ids.h"

namespace kin::stories {

enum class TermKind : std::uint8_t {
  kWord,    // a stem
  kPair,    // two words that follow each other
  kNumber,  // begins with a digit
  kYear,
  kDay,     // a weekday
  kPrefix,  // the first letters of a stem
  kLabel,   // the label of a title; it makes nothing alike
};

// Counts stories, not headlines: a word in a hundred headlines of one story is still rare. (Large
// stories count a little more than small ones, so that a story which attracts everything limits its
// own growth.) The counts come from the stream itself, so that words which all headlines of a list
// share have little weight. A list of frequent English words replaces the stream while it is short.
// Deterministic. One thread only.
class Vocabulary {
 public:
  // A term as it is stored. A hash of 64 bits stands for its text.
  struct Term {
    std::uint64_t key = 0;  // 0: the id is free
    TermKind kind = TermKind::kWord;
    float share = 0;            // of the term in background English
    std::uint32_t capital = 0;  // headlines with it capitalised, where that has a meaning
    std::uint32_t shown = 0;    // headlines with it, where a capital has a meaning
    double stories = 0;         // that ever had the term; older ones count less
    double headlines = 0;       // likewise
    friend bool operator==(const Term&, const Term&) = default;
  };

  Vocabulary() = default;
  // Restores a stored vocabulary.
  Vocabulary(std::vector<Term> terms, double stories, double headlines);

  // The id of a term. Adds it if it is new. A pair has one id for both words.
  TermId intern(TermKind kind, std::string_view text);
  TermId intern_pair(std::string_view first, std::string_view second);
  const Term& term(TermId id) const { return terms_[index(id)]; }
  // By id, including free ones.
  const std::vector<Term>& terms() const { return terms_; }
  double stories() const { return stories_; }
  double headlines() const { return headlines_; }

  void count_headline() { headlines_ += 1; }
  void count_story() { stories_ += 1; }
  // The story was merged into another one.
  void uncount_story() { stories_ = stories_ > 1 ? stories_ - 1 : 0; }
  // Updates the count of a story that has `id` in `after` headlines instead of `before`.
  void recount(TermId id, std::uint32_t before, std::uint32_t after);
  // Counts a headline in which the capital letter of `id` has a meaning.
  void count_spelling(TermId id, bool capital);

  // Halves all counts after some thousand stories, or after twice as many as are open. Then it
  // frees terms that have become rare and for which `is_used` is false. Call it while no id is held
  // elsewhere.
  void fade(std::size_t open_stories, const std::function<bool(TermId)>& is_used);

  // The weight of a term: the square of its rarity, more for names.
  double weight(TermId id) const;
  // The evidence that a shared term gives for one event; 0 for pairs and
  // prefixes, which repeat the evidence of their words, and for years and weekdays. About 8 for a
  // new name.
  double evidence(TermId id) const;
  // The evidence that a match by chance is expected to have, as a factor: 1 in a stream of a
  // thousand stories, more in a larger one.
  double chance() const;
  // True for a label that titles of several stories have: the name of a column, which says as
  // little about the event as the name of a source.
  bool is_column_label(TermId id) const;
  // The probability that the term is a name, from its spelling so far.
  double name_chance(TermId id) const;

 private:
  // Values that depend only on a term's kind and share.
  struct Constants {
    double background = 0;  // expected stories of the background that have it
    double rareness = 0;    // in background English, from 0 to 1
    double factor = 0;
  };

  TermId intern(std::uint64_t key, TermKind kind, double share);
  static Constants constants_of(const Term& term);
  double rarity(TermId id) const;

  std::vector<Term> terms_;
  std::vector<Constants> constants_;
  std::unordered_map<std::uint64_t, TermId> ids_;
  std::vector<TermId> free_;  // sorted, the lowest last
  double stories_ = 0;
  double headlines_ = 0;
};

}  // namespace kin::stories
