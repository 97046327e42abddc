// Finds the part of a text that best shows why it matched, and the words in it to mark.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "index/text/analyzer.h"
#include "index/text/query.h"
#include "index/text_document.h"

namespace kin::index {

// Bytes of a text; never cuts a character.
struct TextRange {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  friend bool operator==(const TextRange&, const TextRange&) = default;
};

struct Snippet {
  TextRange part;                // of the text
  std::vector<TextRange> marks;  // inside the part, in order; none if no word matches
};

// For one query and any number of texts. One thread only.
class Highlighter {
 public:
  static Result<Highlighter> create(const TextQuery& query, const TextOptions& options);

  // All words of the text of `field` (its index in TextOptions::fields) that the query asks for.
  // Excluded words are not marked.
  std::vector<TextRange> marks(std::size_t field, std::string_view text);

  // The part of at most `length` bytes, or one longer word, with the most different words of the
  // query; of equal parts the first. The beginning of the text if no word matches.
  Snippet snippet(std::size_t field, std::string_view text, std::size_t length = 200);

 private:
  struct Wanted {
    enum class Kind : std::uint8_t { kStem, kPattern, kSimilar };
    Kind kind = Kind::kStem;
    std::string text;
    std::string field;
    int distance = 0;
  };
  struct Mark {
    TextRange range;
    std::size_t wanted = 0;
  };

  Highlighter(std::unique_ptr<TextAnalyzer> analyzer, const TextOptions& options);
  void collect(const TextQuery& query);
  void collect_words(const TextQuery& query);
  bool matches(const Wanted& wanted, const TextToken& token) const;
  std::vector<Mark> find(std::size_t field, std::string_view text);
  TextRange widen(TextRange core, std::string_view text, std::size_t length) const;

  std::unique_ptr<TextAnalyzer> analyzer_;
  std::vector<std::string> fields_;
  std::vector<Wanted> wanted_;
  std::vector<TextToken> tokens_;
};

}  // namespace kin::index
