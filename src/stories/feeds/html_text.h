// Converts HTML to the text that a reader sees. All functions are thread-safe.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kin::stories {

// The text of an HTML fragment on one line. Tags, scripts and styles are removed, character
// references are decoded once, white space is collapsed, and block elements and line breaks
// separate words. The result may contain '<' and '&', so it must be escaped for display.
std::string html_to_text(std::string_view html);

// `text` on one line, without invisible characters: controls, zero width spaces, soft hyphens and
// marks that change the direction of writing. Invalid UTF-8 becomes U+FFFD.
std::string one_line(std::string_view text);

// The text of a title or summary of a feed: html_to_text(), applied twice if the feed escaped its
// markup or references twice.
std::string feed_text(std::string_view html);

// The text of a title: as feed_text(), but removes only what is
// certainly markup. Pairs of formatting tags, tags with attributes, and
// a formatting tag at the very start are markup; other angle brackets
// belong to the headline: "Vec<T> vs Box<[T]>", "Using <template>".
std::string title_text(std::string_view html);

// `text` cut to at most `most` bytes (at least 3), at a space if one is near, never inside a
// character. A cut text ends with "…".
std::string clipped(std::string text, std::size_t most);

}  // namespace kin::stories
