// An inverted index of references: which of them have a run of words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "dedup/spill/fingerprint_filter.h"

namespace kin::dedup {

// The runs of `length` words of references, called grams, as hashes. A text contains a reference if
// it has at least a given share of the reference's different grams.
//
// A text that has enough of them lacks so few that it has one of the reference's rarest: only the
// rarest lead to references, so a gram that many references share costs nothing. Thread-compatible.
class ReferenceGrams {
 public:
  // A reference, and the share of its grams that a text has.
  struct Claim {
    double share = 0;
    std::uint32_t number = 0;

    // The larger share comes first, then the first reference.
    bool beats(const Claim& other) const {
      return share > other.share || (share == other.share && number < other.number);
    }
  };
  // A gram of a reference, and the first place that has it, in words.
  struct Place {
    std::uint32_t gram = 0;
    std::uint32_t word = 0;
  };

  ReferenceGrams(std::size_t length, double share) : length_(length), share_(share) {}

  // Takes memory for this many grams of all references.
  void reserve(std::size_t grams);
  // Adds a reference by the hashes of its grams in the order of its text, at least one. Numbers
  // ascend.
  void add(std::uint32_t number, std::span<const std::uint64_t> hashes);
  // Call it after the last add(), before all that follows.
  void finish();

  std::size_t length() const { return length_; }
  std::size_t references() const { return references_.size(); }
  // Of at least one reference.
  std::uint32_t first_number() const { return references_.front().number; }
  // Different grams; each has a number below this.
  std::size_t grams() const { return hashes_.size(); }
  std::uint64_t hash_of(std::uint32_t gram) const { return hashes_[gram]; }
  std::optional<std::uint32_t> find(std::uint64_t hash) const;
  // The grams of a reference, in ascending order.
  std::vector<Place> grams_of(std::uint32_t number) const;
  // How many of `count` grams are enough.
  std::size_t enough_of(std::size_t count) const;

  // Looks for references in texts. One thread only; not longer than the index.
  class Search {
   public:
    explicit Search(const ReferenceGrams& grams);

    // Begins with a text that has these grams. They must stay as they are until the next text.
    void begin(std::span<const std::uint64_t> hashes);
    // The first of the references that the text contains, by hashes, and that come before `least`.
    std::optional<Claim> best(const std::optional<Claim>& least);
    // Leaves a reference out until the next text: its hashes are in the text, its words are not.
    void refute(std::uint32_t number);
    // Gives the memory for the last text back.
    void forget();
    // Its work so far: the grams of references that it looked at, and the references it came to.
    std::uint64_t steps() const { return steps_; }
    // The memory of a search, without that for its text. In bytes.
    static std::uint64_t memory(const ReferenceGrams& grams);

   private:
    void clear();
    bool mark(std::uint32_t gram);
    void mark_all();
    Claim claim_of(std::uint32_t reference, std::size_t missing) const;
    std::size_t missing_rare(std::uint32_t reference) const;
    std::size_t most_missing(std::uint32_t reference, const std::optional<Claim>& best) const;
    void consider(std::uint32_t reference, std::optional<Claim>& best);

    const ReferenceGrams& grams_;
    std::span<const std::uint64_t> text_;
    std::vector<std::uint64_t> bits_;     // by gram: whether it is marked
    std::vector<std::uint32_t> marked_;   // grams of the text: the rarest, or all
    std::vector<std::uint32_t> hits_;     // by reference: how many of its rarest the text has
    std::vector<std::uint32_t> met_;      // references with such a gram
    std::vector<std::uint32_t> refuted_;  // references
    bool all_marked_ = false;
    std::uint64_t steps_ = 0;
  };

 private:
  struct Reference {
    std::uint32_t number = 0;
    std::uint32_t rare = 0;   // how many of its grams lead to it
    std::uint64_t first = 0;  // of its grams, in grams_of_references_
  };

  std::size_t end_of(std::size_t reference) const;
  std::span<const std::uint32_t> grams_at(std::uint32_t reference) const;
  std::span<const std::uint32_t> references_with(std::uint32_t gram) const;
  void number_grams();
  void sort_by_rarity();
  void index_rarest();

  std::size_t length_;
  double share_;
  std::vector<Reference> references_;
  // Grams of one reference after the other, the rarest first, and the first place of each. Until
  // finish(), hashes_of_references_ has their hashes.
  std::vector<std::uint64_t> hashes_of_references_;
  std::vector<std::uint32_t> grams_of_references_;
  std::vector<std::uint32_t> places_;
  // By gram: its hash, ascending. Hashes with the same high bits are between two of buckets_.
  std::vector<std::uint64_t> hashes_;
  std::vector<std::uint32_t> buckets_;
  int shift_ = 63;
  // By gram: where its part of postings_ begins, which is for references that have it as one of
  // their rarest.
  std::vector<std::uint32_t> first_posting_;
  std::vector<std::uint32_t> postings_;
  FingerprintFilter filter_;  // of the hashes of such grams
};

}  // namespace kin::dedup
