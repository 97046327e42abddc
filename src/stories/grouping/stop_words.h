// Words without meaning for a headline.
#pragma once

#include <string_view>

namespace kin::stories {

// True for the very common words of English, Spanish, Portuguese, French, German and Russian.
// `word` is in lower case and has no accents. Thread-safe.
bool is_stop_word(std::string_view word);

}  // namespace kin::stories
