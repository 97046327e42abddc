// The words of a headline, and what their spelling says about them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kin::stories {

struct HeadlineWord {
  std::string stem;      // in lower case, without accents; see light_stem.h
  bool capital = false;  // begins with a capital letter
  bool first = false;    // of the headline, where a capital letter says nothing
  bool number = false;   // holds a digit
  // Letters and digits, or a capital inside: "M4", "iPad", "eBay". Such a word is a name however
  // the rest is spelled.
  bool mixed = false;
  // Words that are too common to be kept stood between this one and the one before.
  bool after_gap = false;
};

struct Headline {
  std::vector<HeadlineWord> words;
  // Most Words Begin With a Capital, so that a capital does not tell a name.
  bool title_case = false;
};

// Replaces `headline` by the words of `title`, in order, without stop words. Numbers keep their
// decimal point ("7.1") and lose their thousands ("1,000" is "1000"); possessive endings go.
// Scripts without spaces give pairs of neighbouring characters. Any bytes are allowed. Thread-safe.
void read_headline(std::string_view title, Headline& headline);

// `title` without what is no part of it: the name of its source at the end ("… - Reuters",
// "… | Reuters") and the label of a wire service in front ("UPDATE 2-", "WRAPUP 1-").
std::string_view bare_title(std::string_view title, std::string_view source);

// True for words so common that they tell nothing. `word` is in lower case.
bool is_stop_word(std::string_view word);

}  // namespace kin::stories
