// The tags of an entity: given ones, and #hashtags in its text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kin::index {

// The hashtags of `utf8` without #, as written, in order and once each (by tag_key). A hashtag
// begins at a # that does not follow a letter, digit, & or /. It continues over letters, marks,
// digits, _ and inner -. Digits alone, or more than 256 bytes, are not a hashtag. Thread-safe.
std::vector<std::string> hashtags(std::string_view utf8);

// `given`, then the hashtags of `text`; each once by tag_key, without empty ones. Thread-safe.
std::vector<std::string> all_tags(const std::vector<std::string>& given, std::string_view text);

// Two tags with the same key are the same tag: lower case, NFC. Thread-safe.
std::string tag_key(std::string_view tag);

}  // namespace kin::index
