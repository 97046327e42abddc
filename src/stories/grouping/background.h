// How common words are in English: the start of every vocabulary. The list of words by frequency is
// installed by scripts/setup. It has no counts, so shares are estimated with Zipf's law.
#pragma once

#include <string_view>

namespace kin::stories {

// The share of words in running text whose stem is `stem`; 0 if it is not in the list. Thread-safe;
// the first call loads the list.
double background_share(std::string_view stem);

// The list itself, one word a line, the most frequent first.
std::string_view background_words();

}  // namespace kin::stories
