// Finds records that contain a reference text, such as a question of a benchmark.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "dedup/options.h"
#include "dedup/progress.h"
#include "dedup/spill/fingerprint_filter.h"
#include "sketch/shingles.h"

namespace kin::dedup {

// A reference text and its origin.
struct ReferenceText {
  std::string file;
  std::uint64_t row = 0;  // over all references
  std::optional<std::string> id;
  std::string text;
};

// Why a record is removed: the number of the reference it contains, and the share of it.
struct ContainEvidence {
  std::uint32_t reference = 0;
  double share = 0;  // of the reference's runs of words that the record has
  // The longest run of words of the record in which every n in a row are in the reference,
  // normalised; at most 100 words.
  std::string passage;

  std::string encode() const;
  static Result<ContainEvidence> decode(std::string_view bytes);
};

// The references of a run, in memory. A record contains a reference if it has at least a given
// share of the reference's different runs of n words, by their normalised text; a reference of
// fewer words has one run, of all its words. Thread-compatible.
class ContainIndex {
  struct Grams;

 public:
  // Reads options.against. `check` is called with the number of bytes to hold, before they are
  // held; its error ends the call.
  static Result<std::unique_ptr<ContainIndex>> open(
      const DedupOptions& options, const std::filesystem::path& folder,
      const std::function<Status(std::uint64_t)>& check, StageWork* work = nullptr);
  // The number of bytes that open() would hold.
  static Result<std::uint64_t> measure(const DedupOptions& options,
                                       const std::filesystem::path& folder);
  // Makes an index of texts in memory.
  static std::unique_ptr<ContainIndex> make(const DedupOptions& options,
                                            std::vector<ReferenceText> texts);

  using Found = ContainEvidence;

  // Looks for references in texts. One thread only; not longer than the index.
  class Matcher {
   public:
    explicit Matcher(const ContainIndex& index);
    // The reference of which the text has the largest share, the first of equals; nothing if none
    // is contained. Every run of words that counts was compared, not just its hash.
    std::optional<Found> find(std::string_view text);

   private:
    void add_candidates(std::size_t length, std::string_view text);
    std::optional<double> share_in_sorted(const Grams& grams) const;
    std::optional<Found> compare(std::uint32_t reference, std::string_view text);
    std::string passage_at(std::size_t first, std::size_t words) const;

    const ContainIndex& index_;
    std::vector<sketch::Shingler> shinglers_;  // by length of index_.lengths_
    std::vector<std::uint32_t> met_;           // references with a run of the text
    std::vector<std::uint64_t> sorted_;        // hashes of the text
    struct Candidate {
      double share;  // an upper bound of the share of the reference's runs that the text has
      std::uint32_t reference;
    };
    std::vector<Candidate> candidates_;
    std::string normalized_;
    std::vector<std::string_view> words_;
  };

  const ReferenceText& reference(std::uint32_t number) const { return texts_[number]; }
  std::size_t size() const { return texts_.size(); }
  // Its memory, including that used while it was made. In bytes.
  std::uint64_t memory() const { return memory_; }
  std::size_t without_words() const { return without_words_; }
  std::size_t short_ones() const { return short_ones_; }  // of fewer words than a run

 private:
  // The runs of words of one reference.
  struct Grams {
    std::size_t length = 0;  // words in a run, and its place in lengths_
    std::size_t length_number = 0;
    std::vector<std::uint64_t> hashes;  // different ones, sorted
    std::vector<std::uint32_t> places;  // the first run with each hash, in words
    std::string normalized;
  };
  struct Posting {
    std::uint64_t hash;
    std::uint32_t reference;
  };

  explicit ContainIndex(const DedupOptions& options);
  void add(std::uint32_t number);
  void index_rarest();

  double share_;
  std::uint32_t words_;
  text::Normalization normalization_;
  std::vector<ReferenceText> texts_;
  std::vector<Grams> grams_;          // by reference
  std::vector<std::size_t> lengths_;  // of runs, in words
  std::vector<Posting> postings_;     // sorted by hash
  FingerprintFilter filter_;          // of the hashes of postings_
  std::size_t without_words_ = 0;
  std::size_t short_ones_ = 0;
  std::uint64_t memory_ = 0;
};

}  // namespace kin::dedup
