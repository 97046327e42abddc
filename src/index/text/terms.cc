#include "index/text/terms.h"

#include <algorithm>
#include <vector>

#include "base/utf8.h"
#include "index/text/query.h"

namespace kin::index {
namespace {

// A byte outside any well-formed character counts as a character.
std::size_t character_length(std::string_view text, std::size_t at) {
  if (static_cast<unsigned char>(text[at]) < 0x80) return 1;
  return std::max<std::size_t>(1,
                               utf8_sequence_length(text.data() + at, text.data() + text.size()));
}

std::vector<std::string_view> characters(std::string_view text) {
  std::vector<std::string_view> found;
  for (std::size_t at = 0; at < text.size(); at += found.back().size())
    found.push_back(text.substr(at, character_length(text, at)));
  return found;
}

// Levenshtein's table for one word against the prefixes of another, one row per character. Terms
// come in order, so the rows of a shared prefix are kept.
class EditRows {
 public:
  EditRows(std::string_view word, int most) : word_(characters(word)), most_(most) {
    rows_.emplace_back();
    for (std::size_t i = 0; i <= word_.size(); ++i) rows_[0].push_back(static_cast<int>(i));
  }

  void keep(std::size_t rows) { rows_.resize(std::min(rows_.size(), rows + 1)); }
  std::size_t depth() const { return rows_.size() - 1; }
  int distance() const { return rows_.back().back(); }

  // False if no word with this prefix can be near enough.
  bool add(std::string_view character) {
    const std::vector<int>& above = rows_.back();
    // `least` bounds the distance of every longer word: rows never get smaller minima.
    std::vector<int> row{above[0] + 1};
    int least = row[0];
    for (std::size_t i = 0; i < word_.size(); ++i) {
      const int exchanged = above[i] + (word_[i] == character ? 0 : 1);
      row.push_back(std::min({exchanged, above[i + 1] + 1, row[i] + 1}));
      least = std::min(least, row.back());
    }
    rows_.push_back(std::move(row));
    return least <= most_;
  }

 private:
  std::vector<std::string_view> word_;
  int most_;
  std::vector<std::vector<int>> rows_;
};

}  // namespace

// Greedy with one step back: if the text behind the last * does not match, that * takes in one more
// character. An earlier * need never be tried again, since the last one can take in all the rest.
bool matches_pattern(std::string_view text, std::string_view pattern) {
  std::size_t at = 0;
  std::size_t in_pattern = 0;
  std::size_t star = std::string_view::npos;
  std::size_t star_at = 0;
  while (at < text.size()) {
    const std::size_t length = character_length(text, at);
    if (in_pattern < pattern.size() && pattern[in_pattern] == kAnyText) {
      star = in_pattern++;
      star_at = at;
    } else if (in_pattern < pattern.size() && pattern[in_pattern] == kAnyCharacter) {
      ++in_pattern;
      at += length;
    } else if (pattern.substr(std::min(in_pattern, pattern.size()))
                   .starts_with(text.substr(at, length))) {
      in_pattern += length;
      at += length;
    } else if (star != std::string_view::npos) {
      // Back to the last *, which takes in one more character.
      in_pattern = star + 1;
      star_at += character_length(text, star_at);
      at = star_at;
    } else {
      return false;
    }
  }
  while (in_pattern < pattern.size() && pattern[in_pattern] == kAnyText) ++in_pattern;
  return in_pattern == pattern.size();
}

void find_pattern(const TextSegment& segment, std::string_view space, std::string_view pattern,
                  const TermFound& found) {
  // Only terms that begin as the pattern does are looked at.
  const std::size_t literal =
      std::min(pattern.find_first_of(std::string{kAnyText, kAnyCharacter}), pattern.size());
  const std::string prefix = std::string(space) + std::string(pattern.substr(0, literal));
  const std::string_view rest = pattern.substr(literal);
  segment.each_term(prefix, [&](const TextSegment::Terms& terms) {
    if (matches_pattern(std::string_view(terms.key()).substr(prefix.size()), rest)) found(terms, 0);
  });
}

void find_similar(const TextSegment& segment, std::string_view space, std::string_view word,
                  int distance, const TermFound& found) {
  EditRows rows(word, distance);
  std::vector<std::string> path;
  TextSegment::Terms terms(segment);
  bool more = terms.seek(space);
  while (more && terms.key().starts_with(space)) {
    const std::string_view key = std::string_view(terms.key()).substr(space.size());
    const std::vector<std::string_view> letters = characters(key);
    // rows.depth() is less than the length of `path` if the term before was given up early.
    std::size_t shared = 0;
    while (shared < std::min({path.size(), letters.size(), rows.depth()}) &&
           path[shared] == letters[shared])
      ++shared;
    rows.keep(shared);
    path.assign(letters.begin(), letters.end());
    std::size_t depth = shared;
    bool near = true;
    while (near && depth < letters.size()) near = rows.add(letters[depth++]);
    if (!near) {
      // No term with this prefix can be near: skip all of them.
      const auto end = letters[depth - 1].data() + letters[depth - 1].size();
      const std::string beyond(key.substr(0, static_cast<std::size_t>(end - key.data())));
      more = terms.seek(std::string(space) + beyond + '\xFF');
      continue;
    }
    if (rows.distance() <= distance) found(terms, rows.distance());
    more = terms.next();
  }
}

int edit_distance(std::string_view a, std::string_view b, int most) {
  EditRows rows(a, most);
  for (const std::string_view character : characters(b)) {
    if (!rows.add(character)) return most + 1;
  }
  return std::min(rows.distance(), most + 1);
}

}  // namespace kin::index
