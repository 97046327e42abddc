// The terms of all headlines so far: how rare they are, and whether they are names.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "base/huge_vector.h"
#include "stories/grouping/term_table.h"
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

  // A term by the hash of its text.
  struct Key {
    std::uint64_t hash = 0;
    TermKind kind = TermKind::kWord;
  };
  static Key key_of(TermKind kind, std::string_view text);
  // A pair has one id for both words.
  static Key key_of_pair(std::string_view first, std::string_view second);

  // The id of a term. Adds it if it is new. `text` is that of the key; a pair needs none.
  TermId intern(const Key& key, std::string_view text);
  TermId intern(TermKind kind, std::string_view text) { return intern(key_of(kind, text), text); }
  TermId intern_pair(std::string_view first, std::string_view second) {
    return intern(key_of_pair(first, second), {});
  }
  // Both begin to load what intern() and the functions of a term will read. The second one reads
  // what the first one loads, so call each for all terms of a headline.
  void prefetch_id(const Key& key) const { ids_.prefetch(key.hash); }
  void prefetch_term(const Key& key) const {
    if (const auto id = ids_.find(key.hash)) __builtin_prefetch(&entries_[index(*id)]);
  }

  const Term& term(TermId id) const { return entries_[index(id)].term; }
  // By id, including free ones.
  std::vector<Term> terms() const;
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
  // Both at once, which is cheaper.
  struct Weighed {
    double weight = 0;
    double evidence = 0;
  };
  Weighed weigh(TermId id) const;
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
  struct alignas(64) Entry {
    Term term;
    Constants constants;
  };
  static_assert(sizeof(Entry) == 64, "a term is one cache line");

  TermId add(const Key& key, double share);
  static Constants constants_of(const Term& term);
  double rarity(const Entry& entry) const;
  double weight(const Entry& entry, double rarity) const;
  double evidence(const Entry& entry, double rarity) const;
  static double name_chance(const Term& term);

  HugeVector<Entry> entries_;  // by id
  TermTable ids_;
  std::vector<TermId> free_;  // sorted, the lowest last
  double stories_ = 0;
  double headlines_ = 0;
};

}  // namespace kin::stories
