// The fields and the documents of a text index.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/result.h"
#include "index/truth/doc_kind.h"

namespace kin::index {

inline constexpr std::size_t kDocKinds = 4;
inline constexpr std::uint8_t kAllKinds = 0b1111;
constexpr std::uint8_t kind_bit(DocKind kind) {
  return static_cast<std::uint8_t>(1U << static_cast<unsigned>(kind));
}

struct TextField {
  std::string name{};
  double weight = 1;  // how much a word in this field counts: 0.25 to 16, in quarters
};

// How BM25 treats repeated words (k1) and long documents (b).
struct Bm25 {
  double k1 = 1.5;
  double b = 0.6;
};

struct TextOptions {
  std::vector<TextField> fields{{"title", 2}, {"text", 1}, {"tags", 1}};  // at most 16
  std::vector<std::string> facets{"type", "tag"};  // at most 16; no name of a field
  std::string language = "english";                // of the stems; see text/stems.h
  Bm25 ranking{};
};

// kInvalidArgument names the option that is not valid.
Status check_options(const TextOptions& options);

// Hash of the options that decide what a segment holds: an index with another hash cannot read it.
std::uint64_t options_hash(const TextOptions& options);

struct FacetValue {
  std::size_t facet = 0;  // index in TextOptions::facets
  std::string value{};    // bytes from 0x20 on; compared by its folded form
};

inline constexpr std::int64_t kAlwaysFrom = std::numeric_limits<std::int64_t>::min();
inline constexpr std::int64_t kAlwaysUntil = std::numeric_limits<std::int64_t>::max();

// Documents in segments of their own, which searches and statistics may leave out. A section lasts
// as long as the index is open, and no two have the same number.
enum class TextSection : std::uint64_t {};
inline constexpr TextSection kNoSection{0};

struct TextDocument {
  std::uint32_t number = 0;
  TextSection section = kNoSection;
  DocKind kind = DocKind::kEntity;
  std::vector<std::string> fields{};  // texts in the order of TextOptions::fields; may be fewer
  std::vector<FacetValue> facets{};
  std::int64_t valid_from = kAlwaysFrom;  // in any unit of time, the same for all documents
  std::int64_t valid_until = kAlwaysUntil;
};

}  // namespace kin::index
