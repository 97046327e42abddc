// The features of an item that grouping uses: terms, names, numbers and keys.
#pragma once

#include <compare>
#include <cstdint>
#include <string_view>
#include <vector>

#include "stories/grouping/headline.h"
#include "stories/grouping/vocabulary.h"
#include "stories/ids.h"
#include "stories/item.h"

namespace kin::stories {

// Terms of a title count 20, those of the summary alone 17: whole numbers, so that sums are exact.
inline constexpr std::uint8_t kTitleCount = 20;
inline constexpr std::uint8_t kSummaryCount = 17;

struct ItemTerm {
  TermId term{};
  std::uint8_t count = 0;
  friend bool operator==(const ItemTerm&, const ItemTerm&) = default;
};

// A term that is a name. Words of mixed spelling ("M4", "iPad") are always names.
struct NameMark {
  TermId term{};
  bool mixed = false;
  friend bool operator==(const NameMark&, const NameMark&) = default;
};

// A number that identifies something rather than counts ("iOS 7.1", "13th package", "magnitude
// 6.2"), or a name, with the word beside it ("protests in Kenya"). Headlines with different numbers
// at the same place are about different things, and two single headlines with different names there
// are made from one template. A name may also be placed in the frame of its title, which is all
// that is not a name or a number.
struct PlacedTerm {
  std::uint64_t place = 0;  // hash of the neighbouring word, or of the frame
  TermId term{};
  friend auto operator<=>(const PlacedTerm&, const PlacedTerm&) = default;

  // The lowest bit of a place distinguishes both kinds.
  static std::uint64_t beside(std::uint64_t hash) { return hash & ~std::uint64_t{1}; }
  static std::uint64_t in_frame(std::uint64_t hash) { return hash | 1; }
  bool is_in_frame() const { return (place & 1) != 0; }
};

struct Features {
  std::vector<ItemTerm> terms;  // sorted by term
  std::vector<NameMark> names;
  std::vector<PlacedTerm> placed;
  std::uint64_t title_key = 0;     // hash of the title; 0 if it has too few words
  std::uint64_t template_key = 0;  // hash of the title without numbers and days; 0 likewise
  // Centred vector of the item's meaning, in steps of 1/254; empty if nothing is known. See
  // meaning.h.
  std::vector<std::int8_t> meaning;
  friend bool operator==(const Features&, const Features&) = default;

  const ItemTerm* find(TermId term) const;
  bool has_name(TermId term) const;
};

// The results of reading an item besides its features.
struct Reading {
  Features features;
  // The key of the title without numbers, weekdays and months; 0 if the title is too specific to be
  // that of a column ("Morning briefing: Monday").
  std::uint64_t column_key = 0;
  // The share of the title's letters that belong to frequent English words.
  double english = 0;
};

// One thread only: it owns scratch memory.
class FeatureReader {
 public:
  // Also counts the spelling of the words in the vocabulary.
  Reading read(const Item& item, Vocabulary& vocabulary);

 private:
  void find_keys(const Vocabulary& vocabulary);
  void read_title(Features& features, Vocabulary& vocabulary);
  void read_label(std::string_view title, Features& features, Vocabulary& vocabulary);
  void read_summary(const Item& item, Features& features, Vocabulary& vocabulary);
  void add(Features& features, TermId term, std::uint8_t count);
  TermId add_word(const HeadlineWord& word, const Vocabulary::Key& key, bool title_case,
                  Features& features, Vocabulary& vocabulary, std::uint8_t count);
  bool is_name(const HeadlineWord& word, double name_chance) const;
  void find_numbers(Features& features) const;
  void find_places(Features& features) const;
  void find_frame(Features& features, const Vocabulary& vocabulary) const;
  std::uint64_t column_key() const;
  double english_share(const Vocabulary& vocabulary) const;

  Headline headline_;
  Headline summary_;
  // The keys of a word of headline_, of its prefix, and of the pair with the word before it.
  struct WordKeys {
    Vocabulary::Key word;
    std::string_view prefix_text;  // empty if it has no prefix
    Vocabulary::Key prefix;
    Vocabulary::Key pair;  // not of the first word
  };
  std::vector<WordKeys> keys_;
  std::vector<TermId> terms_;  // of the words of headline_
};

}  // namespace kin::stories
