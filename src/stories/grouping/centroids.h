// Sums of term vectors, and which of them are near a vector.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stories/grouping/features.h"

namespace kin::stories {

struct CentroidTerm {
  TermId term{};
  float weight = 0;
  std::uint32_t count = 0;  // of the vectors in the sum that hold the term
  friend bool operator==(const CentroidTerm&, const CentroidTerm&) = default;
};

// The sum of some unit vectors.
struct Centroid {
  std::vector<CentroidTerm> terms;  // sorted by term
  double square = 0;                // of its length
  friend bool operator==(const Centroid&, const Centroid&) = default;

  const CentroidTerm* find(TermId term) const;
};

// The centroids of open stories, by slot, with an inverted index over their terms. Slots are small
// numbers of the caller's. Results do not depend on the order in which slots were filled, but for
// the order of what near() returns. One thread only.
class Centroids {
 public:
  // How a vector and a centroid agree: the inner product, and the largest share one term has in it.
  struct Near {
    std::uint32_t slot = 0;
    double product = 0;
    double largest = 0;
  };

  const Centroid& at(std::uint32_t slot) const { return centroids_[slot]; }
  bool empty(std::uint32_t slot) const {
    return slot >= centroids_.size() || centroids_[slot].terms.empty();
  }

  // Adds to the sum; the terms that are new to it are appended to `fresh`, if there is one.
  void add(std::uint32_t slot, const TermVector& vector, std::vector<TermId>* fresh = nullptr);
  void merge(std::uint32_t from, std::uint32_t into);
  void clear(std::uint32_t slot);
  // As it was kept.
  void restore(std::uint32_t slot, Centroid centroid);

  // The slots that share a term with `vector`; valid until the next call. A term that thousands of
  // slots hold adds to the products of slots found by others, but finds none by itself unless all
  // terms are such; then the rarest does.
  std::span<const Near> near(const TermVector& vector);
  // The same for the centroid in `slot`, itself left out. Terms below `least` of its length are
  // passed over.
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
  // By slot, all zero between calls.
  std::vector<Near> scores_;
  std::vector<std::uint32_t> touched_;
  std::vector<TermWeight> query_;
  std::vector<Near> found_;
};

}  // namespace kin::stories
