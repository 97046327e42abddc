#include "index/truth/entity_tags.h"

#include <algorithm>
#include <iterator>
#include <unordered_set>

#include "base/ascii.h"
#include "text/normalize.h"
#include "text/words.h"

namespace kin::index {
namespace {

constexpr std::size_t kMaxHashtagBytes = 256;

bool is_ascii_word(char c) {
  return is_ascii_digit(c) || is_ascii_alpha(c) || c == '_';
}

bool may_precede(std::string_view text, std::size_t hash) {
  if (hash == 0) return true;
  const char before = text[hash - 1];
  // A byte of a longer character counts as a letter unless it ends a space or punctuation mark,
  // which split_words() knows.
  if (static_cast<unsigned char>(before) < 0x80)
    return !is_ascii_word(before) && before != '&' && before != '/' && before != '#';
  std::size_t begin = hash - 1;
  while (begin > 0 && (static_cast<unsigned char>(text[begin]) & 0xC0) == 0x80) --begin;
  std::vector<std::string_view> words;
  text::split_words(text.substr(begin, hash - begin), text::Normalization::kStandard, words);
  return words.empty();
}

// The length of the letters, marks and digits beyond ASCII that `text` begins with.
std::size_t foreign_letters(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && static_cast<unsigned char>(text[end]) >= 0x80) ++end;
  std::vector<std::string_view> words;
  text::split_words(text.substr(0, end), text::Normalization::kStandard, words);
  // In scripts without spaces each character is a word: those that touch belong together.
  const char* at = text.data();
  for (const std::string_view word : words) {
    if (word.data() != at) break;
    at += word.size();
  }
  return static_cast<std::size_t>(at - text.data());
}

std::size_t tag_length(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size()) {
    const char c = text[end];
    if (is_ascii_word(c)) {
      ++end;
    } else if (static_cast<unsigned char>(c) >= 0x80) {
      const std::size_t letters = foreign_letters(text.substr(end));
      if (letters == 0) break;
      end += letters;
    } else if (c == '-' && end > 0 && end + 1 < text.size() && is_ascii_word(text[end + 1])) {
      // An inner hyphen only: "#deep-sea" is one tag, and the dash of "#sea- " is not part of it.
      ++end;
    } else {
      break;
    }
  }
  return end;
}

}  // namespace

std::string tag_key(std::string_view tag) {
  // Most tags are ASCII, which needs no tables of Unicode.
  std::string light;
  text::normalize(tag, text::Normalization::kLight, light);
  if (std::all_of(light.begin(), light.end(),
                  [](char c) { return static_cast<unsigned char>(c) < 0x80; })) {
    return ascii_lowered(light);
  }
  std::string key;
  std::vector<std::string_view> words;
  text::split_words(light, text::Normalization::kStandard, words);
  std::string lower;
  // Words are put into lower case; the text between them stays.
  const char* at = light.data();
  const auto keep = [&](const char* end) {
    for (; at < end; ++at) key += *at;
  };
  for (const std::string_view word : words) {
    keep(word.data());
    text::normalize(word, text::Normalization::kStandard, lower);
    key += lower;
    at = word.data() + word.size();
  }
  keep(light.data() + light.size());
  return key;
}

std::vector<std::string> hashtags(std::string_view utf8) {
  std::vector<std::string> tags;
  std::unordered_set<std::string> keys;
  std::size_t at = utf8.find('#');
  for (; at != std::string_view::npos; at = utf8.find('#', at + 1)) {
    if (!may_precede(utf8, at)) continue;
    const std::string_view tag = utf8.substr(at + 1, tag_length(utf8.substr(at + 1)));
    // Digits alone are numbers of issues and prices; all_of() is true for an empty tag too.
    if (tag.size() > kMaxHashtagBytes || std::all_of(tag.begin(), tag.end(), is_ascii_digit))
      continue;
    if (keys.insert(tag_key(tag)).second) tags.emplace_back(tag);
  }
  return tags;
}

std::vector<std::string> all_tags(const std::vector<std::string>& given, std::string_view text) {
  std::vector<std::string> tags = given;
  std::ranges::move(hashtags(text), std::back_inserter(tags));
  std::unordered_set<std::string> keys{""};  // so that empty tags count as repeated
  std::erase_if(tags, [&](const std::string& tag) { return !keys.insert(tag_key(tag)).second; });
  return tags;
}

}  // namespace kin::index
