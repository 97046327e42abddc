// Options of cutting: lines, paragraphs or passages that other records have too.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace kin::dedup {

struct CutOptions {
  // The unit that is compared and cut as a whole. Lines and paragraphs are compared by their
  // normalised text. Words (runs without white space; single characters in scripts without spaces)
  // and bytes are compared as they are.
  enum class Unit : std::uint8_t { kLine, kParagraph, kWord, kByte };

  Unit unit = Unit::kLine;
  // Units in a row that make a repeated passage; 1 for lines and paragraphs.
  std::uint32_t length = 1;
  // A passage is repeated if it occurs at least this often. At least 2.
  std::uint32_t repeats = 2;
  // The first occurrence in input order stays. False: all occurrences are cut.
  bool keep_first = true;
  // Lines and paragraphs with a shorter normalised text are never cut; in characters, or words.
  std::uint32_t min_length = 20;
  bool min_in_words = false;

  bool by_line() const { return unit == Unit::kLine || unit == Unit::kParagraph; }
  friend bool operator==(const CutOptions&, const CutOptions&) = default;
};

// "lines", "paragraphs", "substring:50" (words) or "substring:200b" (bytes). Nothing for another
// name; an error for "substring" without a usable length.
Result<std::optional<CutOptions>> parse_cut(std::string_view text);
std::string to_string(const CutOptions& options);
// "lines", "paragraphs" or "substring".
std::string_view method_of(const CutOptions& options);

// "20" (characters) or "4w" (words).
Status parse_min_length(std::string_view text, CutOptions& options);
// "first" or "none".
Status parse_repeats_keep(std::string_view text, CutOptions& options);

// Every option that can change what is cut, as one line.
std::string describe(const CutOptions& options);

}  // namespace kin::dedup
