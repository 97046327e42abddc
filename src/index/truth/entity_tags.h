// What is it about? Tags that are given, and #hashtags in the text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kin::index {

// The hashtags of `utf8` without their #, as written, in order and once each (by tag_key). A
// hashtag begins at a # that follows no letter, digit, & or /, and goes on over letters, marks,
// digits, _ and inner -; one of digits alone, or of more than 256 bytes, is none. Thread-safe.
std::vector<std::string> hashtags(std::string_view utf8);

// `given`, and those of hashtags(text) that are not among them; once each by tag_key, empty ones
// left out. Thread-safe.
std::vector<std::string> all_tags(const std::vector<std::string>& given, std::string_view text);

// Two tags with the same key are the same tag: lower case, NFC. Thread-safe.
std::string tag_key(std::string_view tag);

}  // namespace kin::index
