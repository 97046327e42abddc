// How common words are in English news at large: what a vocabulary knows before it has read a
// headline. Made at set-up from a published list of words in order of frequency
// (scripts/setup says which), by Zipf's law: the list has no counts.
#pragma once

#include <string_view>

namespace kin::stories {

// The share of all words of running text whose stem is `stem`; 0 for one that is not in the list.
// Thread-safe; the first call takes some milliseconds.
double background_share(std::string_view stem);

// The list itself, one word a line, the most frequent first.
std::string_view background_words();

}  // namespace kin::stories
