// The language of text queries.
//
//   words                     any of them; more of them score more
//   a AND b, a OR b, NOT c    AND binds closer than OR; (…) groups
//   +a -b                     must be there, must not be there
//   "a phrase"                these words one after another, in one field
//   begin*  w?ld*card         prefixes and patterns, of words as they are written
//   word~1  word~2            words that differ by at most so many letters
//   title:word  tag:value     in this field, or with this value of a facet; also title:(a b)
//   *                         every document
//
// A backslash makes the next character an ordinary one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "index/text_document.h"

namespace kin::index {

struct TextQuery {
  enum class Kind : std::uint8_t {
    kBoolean,     // without any part it finds nothing
    kWords,       // a text whose words are searched by their stems
    kPhrase,      // the same, one after another
    kPattern,     // with kAnyText and kAnyCharacter in it
    kFuzzy,       // a word and a distance
    kEverything,  // all documents
  };

  Kind kind = Kind::kBoolean;
  std::string text{};
  std::string field{};  // or facet; empty: all fields
  int distance = 0;
  // kBoolean: all of `must`, none of `must_not`, and if `must` is empty at least one of `should`
  // unless that is empty too. Matching parts of `should` always add to the score. A part without
  // any word is ignored.
  std::vector<TextQuery> must{};
  std::vector<TextQuery> should{};
  std::vector<TextQuery> must_not{};
};

// Placeholders for wildcards in the text of a kPattern.
inline constexpr char kAnyText = '\x01';
inline constexpr char kAnyCharacter = '\x02';

// kInvalidArgument with a message of three lines: what is wrong and in which column, the query, and
// a caret below the character. `options` has the names of fields and facets. Thread-safe.
Result<TextQuery> parse_query(std::string_view text, const TextOptions& options);

// A query for any of the words of `text`, whatever else it contains. Thread-safe.
TextQuery plain_query(std::string_view text);

}  // namespace kin::index
