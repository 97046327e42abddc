// Builds a segment from documents.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "index/text/analyzer.h"
#include "index/text/segment.h"
#include "index/text_document.h"

namespace kin::index {

// Keys, numbered in the order of their first use. One thread only.
class KeyTable {
 public:
  KeyTable() : slots_(1024) {}

  // The number of the key, a new one if the key is new.
  std::uint32_t number(std::string_view key);
  std::string_view key(std::uint32_t number) const {
    return std::string_view(bytes_).substr(keys_[number].begin, keys_[number].length);
  }
  std::uint32_t size() const { return static_cast<std::uint32_t>(keys_.size()); }
  std::size_t bytes() const { return bytes_.size(); }

 private:
  struct Key {
    std::size_t begin;
    std::uint32_t length;
    std::uint32_t hash;
  };
  void grow();

  std::string bytes_;
  std::vector<Key> keys_;
  std::vector<std::uint32_t> slots_;  // numbers plus 1, by hash; a power of two of them
};

// One thread only.
class TextBuilder {
 public:
  // Both must outlive the builder.
  TextBuilder(const TextOptions& options, TextAnalyzer& analyzer)
      : options_(options), analyzer_(analyzer), self_(analyzer.new_builder()) {
    docs_.fields = static_cast<std::uint32_t>(options.fields.size());
  }

  // In ascending order of their numbers.
  void add(const TextDocument& document);
  // The bytes of the segment.
  std::string finish() &&;

 private:
  struct Occurrence {
    std::uint32_t term;
    std::uint32_t doc;
    std::uint32_t position;
    std::uint32_t weight;
  };

  const Terms& terms_of(const TextToken& token);
  std::vector<Occurrence> occurrences_by_term(std::vector<std::uint32_t>& starts) const;
  void add_field(std::size_t field, std::string_view text, std::uint32_t begin);
  std::vector<std::uint32_t> terms_in_order() const;

  const TextOptions& options_;
  TextAnalyzer& analyzer_;
  std::uint64_t self_;
  SegmentDocs docs_;
  KeyTable keys_;
  std::vector<Occurrence> occurrences_;
  std::vector<TextToken> tokens_;
};

// The first eight bytes as a number. Keys whose numbers differ are ordered as the numbers.
std::uint64_t front_of(std::string_view key);

// The bytes of one segment with the documents of several. A number is kept in at most one of them.
// Thread-safe.
struct MergeInput {
  const TextSegment* segment = nullptr;
  std::vector<bool> keep{};  // by ordinal
};
std::string merge_segments(std::span<const MergeInput> inputs);

}  // namespace kin::index
