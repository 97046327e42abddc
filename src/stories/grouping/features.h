// What grouping goes by: an item's words as weights, its names and its numbers.
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
// Sorted by term, of length 1 or empty.
using TermVector = std::vector<TermWeight>;

// A term that names something. Mixed ones ("M4", "iPad") name it by their spelling alone.
struct NameMark {
  TermId term{};
  bool mixed = false;
  friend bool operator==(const NameMark&, const NameMark&) = default;
};

// A number that tells one thing from another, not one that counts: "iOS 7.1", "13th package",
// "magnitude 6.2". Two headlines with different numbers in the same place are about two things.
struct PlacedNumber {
  std::uint64_t place = 0;  // a hash of what stands beside it
  TermId number{};
  friend auto operator<=>(const PlacedNumber&, const PlacedNumber&) = default;
};

struct Features {
  TermVector title;
  TermVector text;  // of title and summary together; empty without a summary
  std::vector<NameMark> names;
  std::vector<PlacedNumber> numbers;
  std::uint64_t title_key = 0;     // equal for equal titles; 0 for one that says too little
  std::uint64_t template_key = 0;  // of the title without its numbers and days; 0 likewise
  friend bool operator==(const Features&, const Features&) = default;
};

// One thread only: it owns scratch memory.
class FeatureReader {
 public:
  // Also tells the vocabulary how the words of the title are spelled.
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
