// For search: words that nearly every text of a language has.
#pragma once

#include <string>
#include <string_view>

namespace kin::text {

// Whether `word`, in lower case, is such a word of the language ("english", as in stems.h). Always
// false for a language without a list. Thread-safe.
bool is_stop_word(std::string_view word, std::string_view language);

// The words of `text` that are not stop words, in lower case and separated by spaces. Thread-safe.
std::string without_stop_words(std::string_view text, std::string_view language);

}  // namespace kin::text
