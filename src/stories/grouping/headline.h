// The words of a headline and their spelling.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kin::stories {

struct HeadlineWord {
  std::string stem;      // in lower case, without accents; see light_stem.h
  bool capital = false;  // begins with a capital letter
  bool first = false;    // begins a sentence or a quotation: a capital letter has no meaning
  bool number = false;   // contains a digit
  // A letter and then digits or capitals: "M4", "iPad", "eBay". Such a word is always a name.
  bool mixed = false;
  // Stop words were removed between this word and the one before.
  bool after_gap = false;
};

struct Headline {
  std::vector<HeadlineWord> words;
  // Most Words Begin With a Capital, so a capital letter does not mark a name.
  bool title_case = false;
};

// Fills `headline` with the words of `title`, in order, without the stop words of six languages.
// Numbers keep their decimal point ("7.1") but lose the separators of thousands ("1,000" is
// "1000"); scores ("2-1") and numbers of vulnerabilities are one word. Possessive endings are
// removed. Scripts without spaces give pairs of adjacent characters. Any bytes are
// allowed. Thread-safe.
void read_headline(std::string_view title, Headline& headline);

// `title` without the name of its source or of another publication at the end ("… - Reuters"), the
// longest of its parts between "|", and without the label of a wire service at the start ("UPDATE
// 2-", "WRAPUP 1-").
std::string_view bare_title(std::string_view title, std::string_view source);

// The label at the start of a title: up to five words before a colon ("Olympics latest" in
// "Olympics latest: Ferry wins race"). Empty if there is none, or if fewer than three words follow.
std::string_view label_of(std::string_view title);

}  // namespace kin::stories
