// Profiles of stories, with a search for those that share terms with an item or another story.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/huge_vector.h"
#include "stories/grouping/features.h"
#include "stories/grouping/meaning.h"
#include "stories/grouping/vocabulary.h"

namespace kin::stories {

struct ProfileTerm {
  TermId term{};
  std::uint32_t sum = 0;    // of ItemTerm::count over the members
  std::uint32_t count = 0;  // of members that have the term
  friend bool operator==(const ProfileTerm&, const ProfileTerm&) = default;
};

// A story as the sum of its members.
struct Profile {
  std::vector<ProfileTerm> terms;  // sorted by term
  std::uint32_t members = 0;
  // Euclidean length of the weighted terms, with the weights of the last change.
  double length = 0;
  double parts = 0;  // sum of the members' own lengths
  MeaningSum meaning;
  friend bool operator==(const Profile&, const Profile&) = default;

  const ProfileTerm* find(TermId term) const;
  double share(const ProfileTerm& part) const { return static_cast<double>(part.count) / members; }
  // True if most members have a vector.
  bool has_meaning() const { return 2 * meaning.count >= members && meaning.count > 0; }
};

// The weighted terms of a search.
struct Query {
  struct Part {
    TermId term{};
    double product = 0;   // squared weight times count: multiplied with a profile's sum
    double square = 0;    // of the weighted count
    double evidence = 0;  // of the term; see Vocabulary
  };
  // The label of a column, with the share of headlines that have it.
  struct Label {
    TermId term{};
    double share = 0;
  };
  std::vector<Part> parts;
  std::vector<Label> labels;
  double length = 0;
};

// The least score of a useful match. A profile that cannot reach it by its cosine and evidence is
// not found.
struct Reach {
  double least = 0;  // score
  // The score is cosine + bonus or cosine * factor, whichever is more.
  double factor = 1;
  double bonus = 0;
  double evidence = 0;  // for the full score; less evidence gives a proportional part; 0: not used

  // An upper bound of the score of a profile with this cosine and evidence.
  double score(double cosine, double found) const;
};

// The most that a search reads: postings, of the rarest terms first, and profiles whose terms are
// all read, the most promising first. So its cost does not grow with the number of stories. A
// profile that shares only very frequent terms with the query may not be found. At least 1 each.
struct SearchLimits {
  std::size_t postings = 500;
  std::size_t profiles = 16;
};

// The profiles of open stories, by slot, with an inverted index over their terms. Slots are small
// numbers chosen by the caller. One thread only.
class Profiles {
 public:
  struct Match {
    std::uint32_t slot = 0;
    double product = 0;   // inner product of query and profile
    double evidence = 0;  // of the terms in common, less for terms of few members
  };

  explicit Profiles(SearchLimits limits = {}) : limits_(limits) {}

  const Profile& at(std::uint32_t slot) const { return profiles_[slot]; }
  bool empty(std::uint32_t slot) const {
    return slot >= profiles_.size() || profiles_[slot].members == 0;
  }
  bool has(TermId term) const {
    return index(term) < postings_.size() && !postings_[index(term)].empty();
  }

  // Adds a member of the given length. `vocabulary` counts its terms.
  void add(std::uint32_t slot, const Features& features, double length, Vocabulary& vocabulary);
  // Removes a member, whose terms are not counted any more.
  void remove(std::uint32_t slot, const Features& features, double length, Vocabulary& vocabulary);
  void merge(std::uint32_t from, std::uint32_t into, Vocabulary& vocabulary);
  void clear(std::uint32_t slot);
  // Sets a stored profile.
  void restore(std::uint32_t slot, Profile profile);

  // The profiles that share terms with the query, are within reach and in a slot that `accepts`, as
  // far as the limits allow. Valid until the next call. The order of each sum depends only on the
  // query and the lengths of the lists.
  using Accepts = std::function<bool(std::uint32_t slot)>;
  std::span<const Match> near(const Query& query, const Reach& reach, const Accepts& accepts);

 private:
  struct Posting {
    std::uint32_t slot;
    std::uint32_t sum;
    std::uint32_t count;
  };
  using Postings = std::vector<Posting>;

  // The data that a search reads and sums up for every profile: half a cache line.
  struct alignas(32) Seat {
    double product = 0;  // zero between calls, as is the evidence
    double evidence = 0;
    double length = 0;
    std::uint32_t members = 0;
  };

  // Tells most terms that a profile does not have from its own, in one cache line.
  class alignas(64) TermFilter {
   public:
    void add(TermId term) { word(term) |= bit(term); }
    // False if it was not added.
    bool may_have(TermId term) const { return (words_[place(term) / 64] & bit(term)) != 0; }

   private:
    static std::uint32_t place(TermId term) { return (index(term) * 0x9E3779B1U) >> 23U; }
    static std::uint64_t bit(TermId term) { return std::uint64_t{1} << (place(term) % 64); }
    std::uint64_t& word(TermId term) { return words_[place(term) / 64]; }

    std::array<std::uint64_t, 8> words_{};
  };

  // A part of the query with the length of its list.
  struct Listed {
    std::size_t length = 0;
    const Query::Part* part = nullptr;
  };
  // The highest possible score of a visited profile.
  struct Bound {
    double most = 0;
    Match match;
  };

  void make_room(std::uint32_t slot, TermId term);
  void note(std::uint32_t slot) {
    seats_[slot].length = profiles_[slot].length;
    seats_[slot].members = profiles_[slot].members;
  }
  void set_posting(std::uint32_t slot, const ProfileTerm& part);
  void erase_posting(std::uint32_t slot, TermId term);
  void measure(Profile& profile, const Vocabulary& vocabulary);
  std::size_t length(TermId term) const {
    return index(term) < postings_.size() ? postings_[index(term)].size() : 0;
  }
  void sort_by_length(const Query& query);
  std::size_t skip_long_lists(const Query& query, const Reach& reach);
  void prefetch_lists(std::size_t skipped) const;
  void visit(const Query::Part& part);
  void collect(const Query& query, const Reach& reach);
  void keep_best(const Accepts& accepts);
  void prefetch_filters() const;
  bool look_up(const Query& query, const Reach& reach, std::size_t skipped, Match& match) const;

  SearchLimits limits_;
  HugeVector<Profile> profiles_;
  HugeVector<Seat> seats_;          // by slot
  HugeVector<TermFilter> filters_;  // by slot; may have terms of members that left
  HugeVector<Postings> postings_;   // by term; sorted by slot
  std::vector<std::uint32_t> touched_;
  std::vector<Listed> order_;  // the longest list first
  std::vector<Bound> bounds_;
  std::vector<Bound> kept_;
  double rest_square_ = 0;  // of the parts that skip_long_lists() left out
  double rest_evidence_ = 0;
  std::vector<Match> found_;
};

// The terms of an item or of a story, with the present weights. Thread-safe.
void read_query(const Features& features, const Vocabulary& vocabulary, Query& query);
void read_query(const Profile& profile, const Vocabulary& vocabulary, Query& query);

}  // namespace kin::stories
