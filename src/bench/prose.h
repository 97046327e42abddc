// Texts for benchmarks: made up, the same every time, and of any amount.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"

namespace kin::bench {

// English-like prose: words of a built-in vocabulary with the frequencies (Zipf's law) and lengths
// of English, in sentences with commas, quotation marks and capitals. Or sentences of the user's
// texts in another order. Thread-safe but for its making.
class Prose {
 public:
  Prose();
  // Sentences from `texts`, which must hold some.
  explicit Prose(const std::vector<std::string>& texts);

  bool built_in() const { return sentences_.empty(); }

  // Adds whole sentences to `out`, of about `bytes` bytes in all.
  void append(Random& random, std::size_t bytes, std::string& out) const;

 private:
  void append_sentence(Random& random, std::string& out) const;

  std::vector<std::string> words_;  // as often as they are used
  std::vector<std::string> sentences_;
};

// ASCII quotation marks and apostrophes become curly ones, as typesetters have them.
std::string with_curly_quotes(const std::string& text);

// Chinese characters by their frequency, in sentences.
std::string chinese_text(Random& random, std::size_t bytes);

// Changes about one word in `every` of a text, and at least one.
std::string with_changed_words(const std::string& text, std::uint64_t every, Random& random);

}  // namespace kin::bench
