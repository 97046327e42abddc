// How common words are in English: the start of every vocabulary. The list of words by frequency is
// installed by scripts/setup. It has no counts, so shares are estimated with Zipf's law.
#pragma once

#include <string_view>

namespace kin::stories {

// The share of words in running text whose stem is `stem`; 0 if it is not in the list. Thread-safe;
// the first call loads the list.
double background_share(std::string_view stem);

// The first five letters of a stem that has more; empty for a shorter one. Inflected forms share it
// in many languages.
std::string_view prefix_of(std::string_view stem);
// The share of words whose stem has this prefix.
double background_prefix_share(std::string_view prefix);

// The list itself, one word a line, the most frequent first.
std::string_view background_words();

}  // namespace kin::stories
