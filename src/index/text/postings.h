// The documents of one term as bytes: blocks of 128 (document, frequency) with the best impacts of
// each block, and the positions apart from them (docs/formats.md, "Text segment").
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kin::index {

inline constexpr std::uint32_t kNoDoc = 0xFFFFFFFF;
inline constexpr std::uint32_t kBlockDocs = 128;
// Vector loads may read this many bytes past the data.
inline constexpr std::size_t kPostingPadding = 16;

// Frequency and length in quarters of a word.
struct Impact {
  std::uint32_t frequency = 0;
  std::uint32_t length = 0;
};
inline constexpr std::size_t kBlockImpacts = 4;

// Documents are ordinals of a segment, ascending; positions ascend within each document.
struct PostingList {
  std::vector<std::uint32_t> docs;
  std::vector<std::uint32_t> frequencies;
  std::vector<std::uint32_t> counts;  // of positions, by document
  // Gaps between positions, document by document; the first of each document counts from 0.
  std::vector<std::uint32_t> gaps;

  void clear();
};

// Appends to both areas. `lengths` are those of all documents of the segment. Thread-safe.
void encode_postings(const PostingList& list, std::span<const std::uint32_t> lengths,
                     std::string& postings, std::string& positions);

// Where one term's postings are. A view.
struct TermPostings {
  std::uint32_t documents = 0;
  const std::uint8_t* postings = nullptr;
  const std::uint8_t* positions = nullptr;

  std::uint32_t blocks() const { return (documents + kBlockDocs - 1) / kBlockDocs; }
};

// Appends all of a term's postings. Thread-safe.
void decode_postings(const TermPostings& term, PostingList& list);

struct PostingSizes {
  std::size_t postings = 0;
  std::size_t positions = 0;
};
// The bytes that a term takes up at the front of the two areas; nothing if they do not hold a valid
// list of `documents` ordinals below `segment_documents`. A valid list can be read without checks.
std::optional<PostingSizes> check_postings(std::string_view postings, std::string_view positions,
                                           std::uint32_t documents,
                                           std::uint32_t segment_documents);

// Goes through the postings of a term in order. Holds one decoded block. One thread only.
class PostingCursor {
 public:
  explicit PostingCursor(const TermPostings& term);

  // Decoding starts with the first move.
  std::uint32_t doc() const { return docs_[at_]; }
  std::uint32_t frequency() const { return frequencies_[at_]; }
  // To the first document from `target` on; kNoDoc if there is none. Never backwards.
  std::uint32_t seek(std::uint32_t target);
  std::uint32_t next();

  // Positions in the current document; valid until the next move.
  std::span<const std::uint32_t> positions();

  // The rest of the current block, from the current document on.
  std::span<const std::uint32_t> block_docs() const { return {docs_.data() + at_, size_ - at_}; }
  std::span<const std::uint32_t> block_frequencies() const {
    return {frequencies_.data() + at_, size_ - at_};
  }
  // Goes on behind the first `count` documents of block_docs().
  void skip(std::size_t count);

  // The block that `target` would be in, without decoding it. Never before the current one.
  std::uint32_t block_of(std::uint32_t target) const;
  std::uint32_t block_last(std::uint32_t block) const;
  // The impacts of a block; only a list of several blocks has them.
  std::array<Impact, kBlockImpacts> impacts(std::uint32_t block) const;
  std::uint32_t blocks() const { return term_.blocks(); }

 private:
  void load(std::uint32_t block);
  void load_positions();

  TermPostings term_;
  std::uint32_t block_ = 0;
  std::uint32_t at_ = 0;
  std::uint32_t size_ = 0;
  bool loaded_ = false;
  bool has_positions_ = false;
  std::array<std::uint32_t, kBlockDocs + 1> docs_;
  std::array<std::uint32_t, kBlockDocs + 1> frequencies_;
  std::vector<std::uint32_t> starts_;
  std::vector<std::uint32_t> positions_;
};

}  // namespace kin::index
