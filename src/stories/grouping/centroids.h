// Centroids of stories, with a search for those similar to a vector.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stories/grouping/features.h"

namespace kin::stories {

struct CentroidTerm {
  TermId term{};
  float weight = 0;
  std::uint32_t count = 0;  // of vectors in the sum that have the term
  friend bool operator==(const CentroidTerm&, const CentroidTerm&) = default;
};

// A sum of unit vectors.
struct Centroid {
  std::vector<CentroidTerm> terms;  // sorted by term
  double square = 0;                // squared length
  friend bool operator==(const Centroid&, const Centroid&) = default;

  const CentroidTerm* find(TermId term) const;
};

// The centroids of open stories, by slot, with an inverted index over their terms. Slots are small
// numbers chosen by the caller. Only the order of near() depends on the order in which slots were
// filled. One thread only.
class Centroids {
 public:
  // The inner product of a vector and a centroid, and the largest part that one term has in it.
  struct Near {
    std::uint32_t slot = 0;
    double product = 0;
    double largest = 0;
  };

  const Centroid& at(std::uint32_t slot) const { return centroids_[slot]; }
  bool empty(std::uint32_t slot) const {
    return slot >= centroids_.size() || centroids_[slot].terms.empty();
  }

  // Adds a vector to a sum. Appends the terms that are new to the sum to `fresh`, if given.
  void add(std::uint32_t slot, const TermVector& vector, std::vector<TermId>* fresh = nullptr);
  void merge(std::uint32_t from, std::uint32_t into);
  void clear(std::uint32_t slot);
  // Sets a stored centroid.
  void restore(std::uint32_t slot, Centroid centroid);

  // The slots that share a term with `vector`; valid until the next call. A term that thousands of
  // slots have is counted in the products, but does not find slots by itself. If all terms are that
  // common, the rarest of them is used to find slots.
  std::span<const Near> near(const TermVector& vector);
  // The same for the centroid in `slot`, without the slot itself. Terms with a weight below `least`
  // of its length are ignored.
  std::span<const Near> near(std::uint32_t slot, double least);

 private:
  struct Posting {
    std::uint32_t slot;
    float weight;
  };

  void make_room(std::uint32_t slot, TermId term);
  std::vector<Posting>& postings(TermId term) { return postings_[index(term)]; }
  void set_weight(TermId term, std::uint32_t slot, float weight);
  void visit(TermId term, double weight);
  void add_to_found(TermId term, double weight);
  std::size_t length(TermId term) const {
    return index(term) < postings_.size() ? postings_[index(term)].size() : 0;
  }
  template <typename Terms>
  void visit_all(const Terms& terms);
  std::span<const Near> finish(std::uint32_t except);

  std::vector<Centroid> centroids_;
  std::vector<std::vector<Posting>> postings_;
  // By slot; all zero between calls.
  std::vector<Near> scores_;
  std::vector<std::uint32_t> touched_;
  std::vector<TermWeight> query_;
  std::vector<Near> found_;
};

}  // namespace kin::stories
