// From documents to a segment.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "index/text_analyzer.h"
#include "index/text_document.h"
#include "index/text_segment.h"

namespace kin::index {

// One thread only.
class TextBuilder {
 public:
  // Both must outlive the builder.
  TextBuilder(const TextOptions& options, TextAnalyzer& analyzer)
      : options_(options), analyzer_(analyzer) {
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

  std::uint32_t term(std::string_view key);
  void add_field(std::size_t field, std::string_view text, std::uint32_t begin);
  std::vector<std::uint32_t> terms_in_order() const;

  const TextOptions& options_;
  TextAnalyzer& analyzer_;
  SegmentDocs docs_;
  std::deque<std::string> keys_;
  std::unordered_map<std::string_view, std::uint32_t> terms_;
  std::vector<Occurrence> occurrences_;
  std::vector<TextToken> tokens_;
};

// The bytes of one segment with the documents of several. No number is kept twice. Thread-safe.
struct MergeInput {
  const TextSegment* segment = nullptr;
  std::vector<bool> keep{};  // by ordinal
};
std::string merge_segments(std::span<const MergeInput> inputs);

}  // namespace kin::index
