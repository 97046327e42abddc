// The features of an item that grouping uses: weighted words, names and numbers.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "stories/grouping/headline.h"
#include "stories/grouping/vocabulary.h"
#include "stories/ids.h"
#include "stories/item.h"

namespace kin::stories {

struct TermWeight {
  TermId term{};
  float weight = 0;
  friend bool operator==(const TermWeight&, const TermWeight&) = default;
};
// Sorted by term. Its Euclidean length is 1, or it is empty.
using TermVector = std::vector<TermWeight>;

// A term that is a name. Words of mixed spelling ("M4", "iPad") are always names.
struct NameMark {
  TermId term{};
  bool mixed = false;
  friend bool operator==(const NameMark&, const NameMark&) = default;
};

// A number that identifies something rather than counts: "iOS 7.1", "13th package",
// "magnitude 6.2". Headlines with different numbers at the same place are about different things.
struct PlacedNumber {
  std::uint64_t place = 0;  // hash of the neighbouring word
  TermId number{};
  friend auto operator<=>(const PlacedNumber&, const PlacedNumber&) = default;
};

struct Features {
  TermVector title;
  TermVector text;  // of title and summary together; empty without a summary
  std::vector<NameMark> names;
  std::vector<PlacedNumber> numbers;
  std::uint64_t title_key = 0;     // hash of the title; 0 if it has too few words
  std::uint64_t template_key = 0;  // hash of the title without numbers and days; 0 likewise
  friend bool operator==(const Features&, const Features&) = default;
};

// One thread only: it owns scratch memory.
class FeatureReader {
 public:
  // Also counts the spelling of the title's words in the vocabulary.
  Features read(const Item& item, Vocabulary& vocabulary);

 private:
  void weigh_title(Features& features, Vocabulary& vocabulary);
  void weigh_summary(const Item& item, Features& features, Vocabulary& vocabulary);
  void find_numbers(Features& features) const;
  double spelling_weight(const HeadlineWord& word, double name_chance) const;
  bool is_name(const HeadlineWord& word, double name_chance) const;
  void take_weights(TermVector& vector, std::size_t most);

  Headline headline_;
  std::vector<TermId> terms_;  // of the words of headline_
  TermVector weights_;
};

}  // namespace kin::stories
