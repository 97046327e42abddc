#include "stories/grouping/light_stem.h"

#include <algorithm>
#include <string_view>

namespace kin::stories {
namespace {

bool is_plain(std::string_view word) {
  return std::ranges::all_of(word, [](char c) { return c >= 'a' && c <= 'z'; });
}

bool has_vowel(std::string_view word) {
  return word.find_first_of("aeiouy") != std::string_view::npos;
}

void drop(std::string& word, std::size_t count) {
  word.erase(word.size() - count);
}

void drop_plural(std::string& word) {
  if (word.ends_with("ies") && word.size() > 4) {
    drop(word, 3);
    word += 'y';
  } else if (word.ends_with("sses")) {
    drop(word, 2);
  } else if (word.ends_with("s") && !word.ends_with("ss") && !word.ends_with("us") &&
             !word.ends_with("is")) {
    drop(word, 1);
  }
}

// "stopp" → "stop"; but "fall" and "pass" keep their double letter.
void drop_doubled_letter(std::string& word) {
  const std::size_t size = word.size();
  if (size <= 3 || word[size - 1] != word[size - 2]) return;
  if (std::string_view("lsz").find(word.back()) == std::string_view::npos) drop(word, 1);
}

void drop_ending(std::string& word, std::size_t count) {
  if (word.size() < count + 3) return;
  if (!has_vowel(std::string_view(word).substr(0, word.size() - count))) return;
  drop(word, count);
  drop_doubled_letter(word);
}

}  // namespace

void light_stem(std::string& word) {
  if (word.size() < 4 || !is_plain(word)) return;
  drop_plural(word);
  if (word.ends_with("ing")) {
    drop_ending(word, 3);
  } else if (word.ends_with("ed")) {
    drop_ending(word, 2);
  }
  // "price", "prices" and "pricing" become "pric".
  if (word.size() > 4 && word.back() == 'e') word.pop_back();
}

}  // namespace kin::stories
