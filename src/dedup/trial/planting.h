// Makes near-duplicates, to measure whether they are found.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "sketch/shingles.h"

namespace kin::dedup {

// Typical changes to texts that are published again.
enum class Edit : std::uint8_t {
  kReplacements,  // words changed here and there
  kInsertions,    // words added here and there
  kDeletions,     // words left out here and there
  kHeader,        // a passage in front
  kFooter,        // a passage behind
  kOrder,         // sentences swapped
  kSurface,       // capitals, punctuation and spaces, which do not count
  kTruncation,    // the end cut off
  kMixture,       // a header, and words changed
};
inline constexpr std::array kEdits{Edit::kReplacements, Edit::kInsertions, Edit::kDeletions,
                                   Edit::kHeader,       Edit::kFooter,     Edit::kOrder,
                                   Edit::kSurface,      Edit::kTruncation, Edit::kMixture};
std::string_view name_of(Edit edit);

// Makes changed copies of texts, with words from other texts. The same seed and the same calls give
// the same copies. One thread only.
class Planter {
 public:
  // `texts` must outlive it, and hold at least one with a word.
  Planter(const std::vector<std::string>& texts, const sketch::ShingleOptions& shingles,
          std::uint64_t seed);

  // A copy of `valid_utf8` with about this similarity; the caller measures the exact
  // one.
  std::string copy(std::string_view valid_utf8, Edit edit, double similarity);

 private:
  using Tokens = std::vector<std::string>;  // words, each with what follows it

  Tokens tokens_of(std::string_view text) const;
  std::size_t count(double exact);
  std::string foreign_word();
  Tokens foreign_passage(std::size_t words);
  void change_words(Tokens& tokens, Edit edit, double similarity);
  void add_passage(Tokens& tokens, Edit edit, double similarity);
  void swap_sentences(Tokens& tokens, double similarity);
  void change_surface(Tokens& tokens);

  const std::vector<std::string>& texts_;
  text::Normalization normalization_;
  double span_;  // words that a shingle touches
  Random random_;
};

}  // namespace kin::dedup
