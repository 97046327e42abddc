// HTML to the text a reader would see. All functions are thread-safe.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kin::stories {

// The text of a piece of HTML on one line: tags go, and with them scripts and styles; character
// references are decoded, once; white space is collapsed; block elements and line breaks part
// words. The result is text and may hold '<' and '&' that are meant: it must be escaped when it is
// shown.
std::string html_to_text(std::string_view html);

// `text` on one line, without the characters that are not seen and change what is: controls, zero
// width spaces, soft hyphens, and those that turn the direction of writing around. Invalid UTF-8
// becomes U+FFFD.
std::string one_line(std::string_view text);

// The text of what a feed has for a title or a summary: html_to_text(), and once more if the feed
// escaped its markup or its references once too often.
std::string feed_text(std::string_view html);

// At most `most` bytes of `text`, cut at a character, and at a space if one is near, with "…" in
// place of what was cut. `most` is at least 3.
std::string clipped(std::string text, std::size_t most);

}  // namespace kin::stories
