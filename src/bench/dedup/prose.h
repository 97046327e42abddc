// Generated texts of any size, the same in every run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"

namespace kin::bench {

// English-like prose: words of a built-in vocabulary with the frequencies (Zipf's law) and lengths
// of English, in sentences with commas, quotation marks and capitals. Or sentences of given texts
// in another order. Thread-safe after construction.
class Prose {
 public:
  Prose();
  // Uses the sentences of `texts`, which must have at least one.
  explicit Prose(const std::vector<std::string>& texts);

  bool built_in() const { return sentences_.empty(); }

  // Appends whole sentences to `out`, about `bytes` bytes in all.
  void append(Random& random, std::size_t bytes, std::string& out) const;

 private:
  void append_sentence(Random& random, std::string& out) const;

  std::vector<std::string> words_;  // each as often as its frequency says
  std::vector<std::string> sentences_;
};

// Replaces ASCII quotation marks and apostrophes with curly ones.
std::string with_curly_quotes(const std::string& text);

// Sentences of Chinese characters, by their frequency.
std::string chinese_text(Random& random, std::size_t bytes);

// Changes about one word in `every`, and at least one.
std::string with_changed_words(const std::string& text, std::uint64_t every, Random& random);

}  // namespace kin::bench
