// What the text index is told: its fields, and documents.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
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
  double weight = 1;  // a word in this field counts for so many; from 0.25 to 16, in quarters
};

// How BM25 treats repeated words and long documents.
struct Bm25 {
  double k1 = 1.5;
  double b = 0.6;
};

struct TextOptions {
  std::vector<TextField> fields{{"title", 2}, {"text", 1}, {"tags", 1}};  // at most 16
  std::vector<std::string> facets{"type",
                                  "tag"};  // at most 16{}; names differ from those of fields
  std::string language = "english";        // of the stems{}; see text/stems.h
  Bm25 ranking{};
};

// An error names the option that makes no sense.
Status check_options(const TextOptions& options);

// Of all that decides what an index holds: another one cannot read its segments.
std::uint64_t fingerprint(const TextOptions& options);

struct FacetValue {
  std::size_t facet = 0;  // place in TextOptions::facets
  std::string value{};    // any bytes from 0x20 on; compared by its folded form
};

inline constexpr std::int64_t kAlwaysFrom = std::numeric_limits<std::int64_t>::min();
inline constexpr std::int64_t kAlwaysUntil = std::numeric_limits<std::int64_t>::max();

struct TextDocument {
  std::uint32_t number = 0;
  DocKind kind = DocKind::kEntity;
  std::vector<std::string> fields{};  // texts, in the order of TextOptions::fields; may be fewer
  std::vector<FacetValue> facets{};
  std::int64_t valid_from = kAlwaysFrom;  // in whatever unit the caller counts time
  std::int64_t valid_until = kAlwaysUntil;
};

}  // namespace kin::index
