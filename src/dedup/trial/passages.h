// A word-by-word comparison of two texts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "text/normalize.h"

namespace kin::dedup {

// A run of words, with the punctuation and the spaces that follow them.
struct Passage {
  enum class Kind : std::uint8_t { kShared, kOnlyA, kOnlyB };
  Kind kind;
  std::string text;  // of a shared passage, as the first text has it
  std::size_t words;
};

// The passages in reading order. Two words are the same if their normalised forms are. Shared words
// keep their order in both texts, so a moved passage appears once as only in A and once as only in
// B. Joined, the texts of the shared passages and of those of A are `a`, if it has words. Memory
// and time are proportional to the texts; long stretches that have nothing unique in common are
// treated as different. Thread-safe.
std::vector<Passage> compare_words(std::string_view a, std::string_view b,
                                   text::Normalization preset);

}  // namespace kin::dedup
