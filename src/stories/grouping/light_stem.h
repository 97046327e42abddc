// A light stemmer that leaves names alone: it removes plurals, -ing, -ed and a silent e.
#pragma once

#include <string>

namespace kin::stories {

// Replaces `word`, in lower case, with its stem. Words with other characters than a to z, and words
// of up to three letters, stay as they are. Thread-safe.
void light_stem(std::string& word);

}  // namespace kin::stories
