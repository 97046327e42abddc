// Finds the terms of a dictionary that a prefix, a pattern or a misspelt word stands for. All
// functions are thread-safe.
#pragma once

#include <functional>
#include <string_view>

#include "index/text/segment.h"

namespace kin::index {

// Called for each term found, with its number of edits.
using TermFound = std::function<void(const TextSegment::Terms& terms, int distance)>;

// Terms whose key is `space` and something that `pattern` (see text/query.h) matches.
void find_pattern(const TextSegment& segment, std::string_view space, std::string_view pattern,
                  const TermFound& found);

// Terms whose key is `space` and a word that differs from `word` by at most `distance` characters
// added, left out or replaced.
void find_similar(const TextSegment& segment, std::string_view space, std::string_view word,
                  int distance, const TermFound& found);

bool matches_pattern(std::string_view text, std::string_view pattern);

// The edits between two words, or `most` + 1 if there are more than `most`.
int edit_distance(std::string_view a, std::string_view b, int most);

}  // namespace kin::index
