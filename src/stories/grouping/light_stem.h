// A stem light enough for names: plurals, -ing and -ed, and a silent e go; nothing else changes.
#pragma once

#include <string>

namespace kin::stories {

// Shortens `word`, which is in lower case. Words that hold anything but the letters a to z, and
// words of three letters or fewer, stay as they are. Thread-safe.
void light_stem(std::string& word);

}  // namespace kin::stories
