// The pieces of an HTML text, in order, as a browser's tokenizer would cut them, without a tree.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kin::stories {

// One piece. Views are of the scanned text, or of the scanner until its next call.
struct HtmlPiece {
  enum class Kind { kText, kOpen, kClose };
  Kind kind = Kind::kText;
  std::string_view text;  // of kText: as written, character references and all
  std::string name;       // of a tag, in lower case
  // Of an open tag: names in lower case, values with their references decoded.
  std::vector<std::pair<std::string, std::string>> attributes;

  // Of several with one name the first; nothing if there is none.
  std::optional<std::string_view> attribute(std::string_view wanted) const;
};

// Comments, declarations, and what stands inside script, style and their like are skipped. A '<'
// that starts no tag is text. Takes time linear in the text. One thread only.
class HtmlScanner {
 public:
  explicit HtmlScanner(std::string_view html) : rest_(html) {}

  // The next piece; false at the end.
  bool next(HtmlPiece& piece);

 private:
  bool read_markup(HtmlPiece& piece);
  bool read_tag(HtmlPiece& piece);
  bool read_attribute(HtmlPiece& piece);
  void skip_element(std::string_view name);
  // Past `closing`, or to the end if there is none.
  void skip_past(std::string_view closing);

  std::string_view rest_;
  std::vector<std::string> unclosed_;  // elements that no tag closes any more
};

// `text` with its character references decoded, once: &amp; &#8217; &#x2019; &eacute; … . What is
// no reference stays as it is. Thread-safe.
std::string decode_references(std::string_view text);

// The character that &name; stands for in HTML 4 and XML, as UTF-8; empty if it is none.
std::string_view named_character(std::string_view name);

}  // namespace kin::stories
