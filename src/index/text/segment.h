// An immutable part of a text index: some documents, their terms in order, and the postings of
// each (docs/formats.md, "Text segment"). It is searched in its stored form.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "index/text/postings.h"
#include "index/text_document.h"

namespace kin::index {

inline constexpr std::uint32_t kSegmentVersion = 1;
// Positions are counted through all fields of a document, with this gap between two fields.
inline constexpr std::uint32_t kFieldGap = 64;

// The documents of a segment by ordinal. Ordinals have the order of the numbers.
struct SegmentDocs {
  std::uint32_t fields = 0;
  std::vector<std::uint32_t> numbers{};
  std::vector<DocKind> kinds{};
  std::vector<std::uint32_t> lengths{};        // in quarters of a word, weighted
  std::vector<std::uint32_t> field_lengths{};  // in words; `fields` of them a document
  std::vector<std::int64_t> valid_from{};
  std::vector<std::int64_t> valid_until{};
  std::vector<std::uint32_t> facet_starts{0};  // of each document in facet_values, and its end
  std::vector<std::uint32_t> facet_values{};   // ordinals of facet terms, which come first

  std::uint32_t size() const { return static_cast<std::uint32_t>(numbers.size()); }
};

// The bytes of the parts of a segment that grow with its texts.
struct SegmentSizes {
  std::size_t dictionary = 0;
  std::size_t postings = 0;
  std::size_t positions = 0;
};

// Makes the bytes of a segment. One thread only.
class SegmentWriter {
 public:
  // `expected`: about the final sizes, to reserve memory.
  SegmentWriter(SegmentDocs docs, const SegmentSizes& expected);

  // Keys come in ascending order, each once, each with at least one document. The facets of the
  // documents are read from the keys of facets.
  void add(std::string_view key, const PostingList& list);
  std::string finish() &&;

 private:
  void lay_out_facets();

  SegmentDocs docs_;
  std::uint32_t terms_ = 0;
  std::uint32_t facet_terms_ = 0;
  std::string last_key_;
  std::string dictionary_;
  std::string dictionary_blocks_;
  std::string postings_;
  std::string positions_;
  struct DocFacet {
    std::uint32_t doc;
    std::uint32_t value;
  };
  std::vector<DocFacet> facets_;
};

// Immutable, so thread-safe.
class TextSegment {
 public:
  // kDataLoss if the bytes are damaged, kFailedPrecondition if they are of another version. Reads
  // and checks everything, so that searches need not.
  static Result<std::shared_ptr<const TextSegment>> decode(std::string bytes);
  // From bytes that SegmentWriter has just made; does not check them.
  static std::shared_ptr<const TextSegment> of_writer(std::string bytes);

  const std::string& bytes() const { return bytes_; }
  // The last eight bytes: different segments have different checksums.
  std::uint64_t checksum() const;

  const SegmentDocs& docs() const { return docs_; }
  std::uint32_t size() const { return docs_.size(); }
  std::uint64_t total_length() const { return total_length_; }
  std::uint32_t facet_terms() const { return facet_terms_; }
  SegmentSizes sizes() const { return {dictionary_.size(), postings_.size(), positions_.size()}; }
  std::optional<std::uint32_t> ordinal(std::uint32_t number) const;
  // The ordinals of the values of its facets.
  std::span<const std::uint32_t> facet_values(std::uint32_t ordinal) const;
  // The positions of `field` in a document: the first, and the one behind the last.
  struct FieldRange {
    std::uint64_t begin;
    std::uint64_t end;
  };
  FieldRange field_range(std::uint32_t ordinal, std::size_t field) const;

  std::optional<TermPostings> find(std::string_view key) const;

  // Goes through the terms in order. A view of the segment. One thread only.
  class Terms {
   public:
    explicit Terms(const TextSegment& segment) : segment_(segment) {}
    // To the first key that is not less; false if there is none.
    bool seek(std::string_view key);
    bool next();
    const std::string& key() const { return key_; }
    std::uint32_t ordinal() const { return ordinal_; }
    const TermPostings& postings() const { return postings_; }

   private:
    void open(std::uint32_t block);
    void read();

    const TextSegment& segment_;
    std::string_view rest_;
    std::string key_;
    std::uint32_t ordinal_ = 0;
    std::uint64_t next_postings_ = 0;
    std::uint64_t next_positions_ = 0;
    TermPostings postings_;
  };
  // Calls visit(terms) at each term whose key begins with `prefix`, in order.
  template <typename Visit>
  void each_term(std::string_view prefix, const Visit& visit) const {
    Terms terms(*this);
    for (bool more = terms.seek(prefix); more && terms.key().starts_with(prefix);
         more = terms.next())
      visit(terms);
  }

 private:
  explicit TextSegment(std::string bytes) : bytes_(std::move(bytes)) {}
  Status check_whole() const;
  Status parse();
  Status parse_docs(std::string_view bytes, std::size_t documents, std::size_t facet_values);
  Status check_terms() const;
  std::string_view first_key(std::uint32_t block) const;
  std::uint32_t blocks() const;

  std::string bytes_;
  SegmentDocs docs_;
  std::uint64_t total_length_ = 0;
  std::uint32_t terms_ = 0;
  std::uint32_t facet_terms_ = 0;
  std::string_view dictionary_;
  std::string_view dictionary_blocks_;
  std::string_view postings_;
  std::string_view positions_;
};

}  // namespace kin::index
