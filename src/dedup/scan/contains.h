// Finds records that contain a reference text, such as a question of a benchmark.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "dedup/options.h"
#include "dedup/progress.h"
#include "dedup/scan/reference_grams.h"
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
    // Gives the memory for a long text back.
    void forget();

   private:
    // References of one length of runs.
    struct Part {
      const ReferenceGrams& grams;
      sketch::Shingler shingler;
      ReferenceGrams::Search search;
    };

    void find_in(Part& part, std::string_view text, std::optional<Found>& best);
    std::optional<Found> compare(const ReferenceGrams& grams, std::uint32_t reference,
                                 std::span<const std::uint64_t> hashes);
    void split(std::string_view text);
    std::string passage_at(std::size_t first, std::size_t words) const;

    const ContainIndex& index_;
    std::vector<Part> parts_;
    std::string normalized_;  // the text, if it is split into words
    std::vector<std::string_view> words_;
    bool is_split_ = false;
  };

  const ReferenceText& reference(std::uint32_t number) const { return texts_[number]; }
  std::size_t size() const { return texts_.size(); }
  // Its memory, including that used while it was made, and that of matchers. In bytes.
  std::uint64_t memory() const { return memory_; }
  // How many matchers memory() includes.
  int most_matchers() const;
  std::size_t without_words() const { return without_words_; }
  std::size_t short_ones() const { return short_ones_; }  // of fewer words than a run

 private:
  explicit ContainIndex(const DedupOptions& options);
  std::vector<std::uint32_t> normalize_texts();
  void add_all(const std::vector<std::uint32_t>& first_with_text);
  std::size_t add(std::uint32_t number, sketch::Shingler& shingler);
  ReferenceGrams& grams_of_length(std::size_t length);

  double share_;
  std::uint32_t words_;
  text::Normalization normalization_;
  std::vector<ReferenceText> texts_;
  std::vector<std::string> normalized_;  // by reference; nothing for copies of earlier ones
  std::vector<ReferenceGrams> grams_;    // by length of runs
  std::size_t without_words_ = 0;
  std::size_t short_ones_ = 0;
  std::uint64_t memory_ = 0;
  std::uint64_t matcher_memory_ = 0;  // of memory_
};

}  // namespace kin::dedup
