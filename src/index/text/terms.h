// Which terms of a dictionary a beginning, a pattern or a misspelt word stands for. All functions
// are thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "index/text/segment.h"

namespace kin::index {

// Told of each term found, and how many edits away it is.
using TermFound = std::function<void(const TextSegment::Terms& terms, int distance)>;

// Terms whose key is `space` and something that `pattern` (see text_query.h) matches.
void find_pattern(const TextSegment& segment, std::string_view space, std::string_view pattern,
                  const TermFound& found);

// Terms whose key is `space` and a word at most `distance` characters added, left out or exchanged
// away from `word`.
void find_similar(const TextSegment& segment, std::string_view space, std::string_view word,
                  int distance, const TermFound& found);

bool matches_pattern(std::string_view text, std::string_view pattern);

// The edits between two words, or `most` + 1 if there are more than `most`.
int edit_distance(std::string_view a, std::string_view b, int most);

}  // namespace kin::index
