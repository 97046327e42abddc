// Turns texts into keys of the term dictionary.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/stems.h"
#include "text/tokens.h"

namespace kin::index {

// The first byte of a key says what it is. A word is found under its stem and, for prefixes,
// patterns and misspellings, under its own folded form.
inline constexpr char kFacetKey = '\x01';  // facet, folded value, value: see facet_key()
inline constexpr char kFormKey = '\x02';
inline constexpr char kStemKey = '\x03';
inline constexpr char kEndOfName = '\x01';

std::string facet_key(std::size_t facet, std::string_view value);
// The common prefix of the keys of all values of `facet` whose folded form begins with `value`'s.
std::string facet_prefix(std::size_t facet, std::string_view value);
// The facet and the original value in a key made by facet_key().
struct FacetOfKey {
  std::size_t facet;
  std::string_view value;
};
FacetOfKey facet_of_key(std::string_view key);

// The numbers that the builder `builder` gave to a word's keys; other builders ignore them.
struct Terms {
  std::uint64_t builder = 0;
  std::uint32_t stem = 0;
  std::uint32_t form = 0;
};

struct TextToken {
  std::uint32_t begin = 0;  // bytes of the text
  std::uint32_t end = 0;
  std::uint32_t position = 0;  // counted in words; pairs of characters share their first's
  bool pair = false;
  bool unit = false;                  // a character, or a pair, of a script without spaces
  const std::string* stem = nullptr;  // the keys
  const std::string* form = nullptr;  // null if the list of the stem serves as well
  Terms* terms = nullptr;             // for the builder to remember the word's numbers
};

// One thread only.
class TextAnalyzer {
 public:
  static Result<std::unique_ptr<TextAnalyzer>> create(std::string_view language);

  // Replaces `tokens` by those of a document's text: words, and for scripts without spaces each
  // character and each pair of neighbours. Returns the number of positions. The keys are valid
  // until the next call.
  std::uint32_t document(std::string_view text, std::vector<TextToken>& tokens);

  // The same for the text of a query: pairs where there are any, characters only where they stand
  // alone.
  void query(std::string_view text, std::vector<TextToken>& tokens);

  // The first byte of the keys of folded forms. Without stemming these are the keys of stems.
  char form_space() const;

  // A number for a new user of Terms; not 0.
  std::uint64_t new_builder() { return ++builders_; }

 private:
  struct Keys {
    std::string word;
    Terms terms;
    std::string stem;
    std::string form;
  };
  struct Slot {
    Keys* keys = nullptr;
    std::uint32_t hash = 0;
  };

  explicit TextAnalyzer(text::Stemmer stemmer);
  void forget_if_full();
  void grow();
  // The slot of a word, or the free one where it belongs.
  Slot& slot(std::string_view word, std::uint32_t hash);
  Keys& keys(std::string_view word, std::uint32_t hash);
  // Gives the tokens their keys.
  void look_up(std::string_view text, std::vector<TextToken>& tokens);

  text::Stemmer stemmer_;
  // Words met before, in a table of open addressing: a power of two of slots, half of them free.
  std::vector<Slot> slots_;
  std::deque<Keys> known_;
  std::uint64_t builders_ = 0;
  std::vector<text::Token> words_;
  std::vector<std::uint32_t> hashes_;
  std::string folded_;
};

}  // namespace kin::index
