// Query words that begin with a dash, such as -lakes.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "app/options.h"

namespace kin::app {

// CLI11 reads "-lakes" as the option -l. Replaces the dash of each argument in front of "--" that
// is not an option of `verb`, so that CLI11 takes it for a word. "-ocean" stays if there is an
// option -o, and so do "-5" and "--lakes".
void hide_dashes(Verb verb, std::span<std::string> arguments);

// The words with their dashes, separated by spaces.
std::string join_words(const std::vector<std::string>& words);

}  // namespace kin::app
