#include "stories/grouping/headline.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/ascii.h"
#include "stories/grouping/light_stem.h"
#include "stories/grouping/stop_words.h"
#include "text/normalize.h"
#include "text/words.h"

namespace kin::stories {
namespace {

constexpr bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}
constexpr bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
constexpr bool is_wide(char c) {
  return static_cast<unsigned char>(c) >= 0x80;
}
constexpr bool is_word(char c) {
  return is_ascii_digit(c) || is_upper(c) || is_lower(c) || is_wide(c);
}

// The three-byte character at the front of `text` if it is one of General Punctuation
// (U+2000..U+203F): typographic quotes, dashes and spaces.
bool starts_with_punctuation(std::string_view text) {
  return text.size() >= 3 && text[0] == '\xE2' && text[1] == '\x80';
}
bool starts_with_apostrophe(std::string_view text) {
  return starts_with_punctuation(text) && (text[2] == '\x99' || text[2] == '\x98');
}

// True for a capital of ASCII, Latin-1, Greek or Cyrillic.
bool starts_with_capital(std::string_view text) {
  if (is_upper(text[0])) return true;
  if (text.size() < 2 || !is_wide(text[0])) return false;
  const auto lead = static_cast<unsigned char>(text[0]);
  const auto next = static_cast<unsigned char>(text[1]);
  if (lead == 0xC3) return next >= 0x80 && next <= 0x9E && next != 0x97;
  if (lead == 0xCE) return next >= 0x91 && next <= 0xA9;
  return lead == 0xD0 && next >= 0x80 && next <= 0xAF;
}

// A run of word characters, as written and in lower case.
struct Run {
  std::string letters;  // ASCII in lower case
  bool starts = false;  // a sentence, a quotation or a part after a colon or dash
  bool capital = false;
  bool inner_capital = false;
  bool small = false;
  bool digit = false;
  bool wide = false;
};

class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  std::optional<Run> next() {
    Run run;
    run.starts = skip_others();
    if (rest_.empty()) return {};
    run.capital = starts_with_capital(rest_);
    while (!rest_.empty() && take(run)) {
    }
    return run;
  }

 private:
  // True if a sentence or another part begins after the skipped characters.
  bool skip_others() {
    bool starts = std::exchange(at_start_, false);
    while (!rest_.empty()) {
      if (starts_with_punctuation(rest_)) {
        // U+2013 to U+201F: dashes and quotes, without the apostrophe.
        const auto last = static_cast<unsigned char>(rest_[2]);
        starts |= last >= 0x93 && last <= 0x9F && last != 0x99;
        rest_.remove_prefix(3);
      } else if (!is_word(rest_[0])) {
        starts |= std::string_view(".!?:;|\"").find(rest_[0]) != std::string_view::npos;
        rest_.remove_prefix(1);
      } else {
        break;
      }
    }
    return starts;
  }

  bool take(Run& run) {
    const char c = rest_[0];
    if (starts_with_apostrophe(rest_)) return take_apostrophe(3);
    if (starts_with_punctuation(rest_)) return false;
    if (c == '\'') return take_apostrophe(1);
    if (is_word(c)) {
      note(run, c);
      rest_.remove_prefix(1);
      return true;
    }
    return take_joint(run, c);
  }

  static void note(Run& run, char c) {
    run.inner_capital |= is_upper(c) && !run.letters.empty();
    run.small |= is_lower(c);
    run.digit |= is_ascii_digit(c);
    run.wide |= is_wide(c);
    run.letters += ascii_lower(c);
  }

  // An apostrophe inside a word is left out ("O'Brien", "don't"); 's ends it.
  bool take_apostrophe(std::size_t size) {
    const std::string_view after = rest_.substr(size);
    if (after.empty() || !is_word(after[0])) return false;
    const bool possessive =
        ascii_lower(after[0]) == 's' && (after.size() == 1 || !is_word(after[1]));
    rest_.remove_prefix(size + (possessive ? 1 : 0));
    return !possessive;
  }

  // Numbers go on after a point or comma ("7.1", "1,000"), and scores and times are one word
  // ("2-1", "10:30"), as are the numbers of vulnerabilities ("CVE-2026-1234").
  bool take_joint(Run& run, char c) {
    if (rest_.size() < 2 || !is_ascii_digit(rest_[1]) || run.letters.empty()) return false;
    const bool inside_number = is_ascii_digit(run.letters.back());
    const bool joins = (inside_number && (c == '.' || c == ',' || c == ':' || c == '-')) ||
                       (c == '-' && run.letters == "cve");
    if (!joins) return false;
    if (c != ',') run.letters += c;
    rest_.remove_prefix(1);
    return true;
  }

  std::string_view rest_;
  bool at_start_ = true;
};

class Reader {
 public:
  explicit Reader(Headline& headline) : headline_(headline) {}

  void add(const Run& run) {
    if (run.wide) {
      add_wide(run);
    } else {
      HeadlineWord word = described(run);
      word.stem = run.letters;
      add(std::move(word));
    }
  }

  void finish() { headline_.title_case = capitals_ >= 2 && capitals_ > 2 * smalls_; }

 private:
  // "10m" counts something, and "McKeown" is a name like others.
  static bool is_mixed(const Run& run) {
    if (is_ascii_digit(run.letters[0])) return false;
    return run.digit || (run.inner_capital && run.small && !run.capital);
  }

  HeadlineWord described(const Run& run) const {
    return {.stem = {},
            .capital = run.capital,
            .first = run.starts,
            .number = run.digit,
            .mixed = is_mixed(run),
            .after_gap = gap_};
  }

  void add(HeadlineWord word) {
    if (is_stop_word(word.stem) || (word.stem.size() < 2 && !word.number)) {
      gap_ = true;
      return;
    }
    if (!word.number && !word.first && word.stem.size() >= 4)
      ++(word.capital ? capitals_ : smalls_);
    light_stem(word.stem);
    word.after_gap = gap_;
    gap_ = false;
    headline_.words.push_back(std::move(word));
  }

  void add_wide(const Run& run) {
    std::string plain;
    text::normalize(run.letters, text::Normalization::kAggressive, plain);
    std::vector<std::string_view> words;
    text::split_words(plain, text::Normalization::kAggressive, words);
    std::string_view before;
    for (std::size_t i = 0; i < words.size(); ++i) {
      const bool one_sign = is_one_sign(words[i]);
      HeadlineWord word = described(run);
      // One character of such a script is a syllable; two are often a word.
      word.stem = std::string(one_sign ? before : "") + std::string(words[i]);
      if (!one_sign || !before.empty() || words.size() == 1) add(std::move(word));
      before = one_sign ? words[i] : std::string_view();
    }
  }

  static bool is_one_sign(std::string_view word) {
    const auto starts = std::ranges::count_if(
        word, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
    return word.size() >= 3 && starts == 1;
  }

  Headline& headline_;
  bool gap_ = false;
  int capitals_ = 0;
  int smalls_ = 0;
};

bool same_letters(std::string_view a, std::string_view b) {
  const auto next = [](std::string_view& text) -> char {
    while (!text.empty() && !is_word(text[0])) text.remove_prefix(1);
    if (text.empty()) return '\0';
    const char c = ascii_lower(text[0]);
    text.remove_prefix(1);
    return c;
  };
  while (true) {
    const char c = next(a);
    if (c != next(b)) return false;
    if (c == '\0') return true;
  }
}

std::string_view without_source(std::string_view title, std::string_view source) {
  for (const std::string_view mark : {" - ", " | ", " \xE2\x80\x93 ", " \xE2\x80\x94 "}) {
    const std::size_t at = title.rfind(mark);
    if (at == std::string_view::npos || at == 0) continue;
    if (same_letters(title.substr(at + mark.size()), source)) return title.substr(0, at);
  }
  return title;
}

std::size_t count_words(std::string_view text) {
  std::size_t words = 0;
  for (std::string_view rest = text; !rest.empty();) words += take_until(rest, " ").empty() ? 0 : 1;
  return words;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// The part of "Sport | Ferry wins race | Daily" with the most words; the first of equals.
std::string_view longest_part(std::string_view title) {
  std::string_view longest;
  for (std::string_view rest = title; !rest.empty();) {
    const std::string_view part = trimmed(take_until(rest, "|"));
    if (longest.empty() || count_words(part) > count_words(longest)) longest = part;
  }
  return longest;
}

// A short part after a dash at the end that looks like the name of a publication.
std::string_view without_publication(std::string_view title) {
  constexpr std::size_t kMostWords = 4;
  constexpr std::size_t kLeastLeft = 4;
  for (const std::string_view mark : {" - ", " \xE2\x80\x93 ", " \xE2\x80\x94 "}) {
    const std::size_t at = title.rfind(mark);
    if (at == std::string_view::npos) continue;
    const std::string_view name = trimmed(title.substr(at + mark.size()));
    if (name.size() < 2 || !starts_with_capital(name) || count_words(name) > kMostWords) continue;
    if (name.find_first_of("0123456789") != std::string_view::npos) continue;
    if (count_words(title.substr(0, at)) >= kLeastLeft) return title.substr(0, at);
  }
  return title;
}

std::string_view without_label(std::string_view title) {
  for (const std::string_view label : {"UPDATE", "WRAPUP", "RPT", "CORRECTED", "REFILE"}) {
    if (!title.starts_with(label)) continue;
    std::string_view rest = title.substr(label.size());
    while (!rest.empty() && (is_ascii_digit(rest[0]) || rest[0] == ' ')) rest.remove_prefix(1);
    if (rest.empty() || (rest[0] != '-' && rest[0] != ':')) continue;
    // Labels may follow each other: "UPDATE 2-CORRECTED-".
    return without_label(rest.substr(1));
  }
  return title;
}

}  // namespace

std::string_view label_of(std::string_view title) {
  constexpr std::size_t kMostWords = 5;
  constexpr std::size_t kLeastLeft = 3;
  const std::size_t colon = title.find(": ");
  if (colon == std::string_view::npos) return {};
  const std::string_view label = trimmed(title.substr(0, colon));
  if (count_words(label) > kMostWords || count_words(title.substr(colon + 1)) < kLeastLeft)
    return {};
  return label;
}

void read_headline(std::string_view title, Headline& headline) {
  headline.words.clear();
  Scanner scanner(title);
  Reader reader(headline);
  while (const auto run = scanner.next()) reader.add(*run);
  reader.finish();
}

std::string_view bare_title(std::string_view title, std::string_view source) {
  const std::string_view named = source.empty() ? title : without_source(title, source);
  const std::string_view bare = without_label(without_publication(longest_part(named)));
  return bare.empty() ? title : bare;
}

}  // namespace kin::stories
