// An HTML tokenizer: text and tags in order, split as browsers do, without building a tree.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kin::stories {

// One token. Views point into the scanned text.
struct HtmlPiece {
  enum class Kind { kText, kOpen, kClose };
  Kind kind = Kind::kText;
  std::string_view text;  // of kText: as written, character references not decoded
  std::string name;       // of a tag, in lower case
  // Attributes of an open tag: names in lower case, values with references decoded. At most 64.
  std::vector<std::pair<std::string, std::string>> attributes;

  // The first attribute of that name.
  std::optional<std::string_view> attribute(std::string_view wanted) const;
};

// Skips comments, declarations and the content of elements such as script and style. A '<' that
// does not start a tag is text. Linear time. One thread only.
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
  // Skips past `closing`, or to the end if it is not there.
  void skip_past(std::string_view closing);

  std::string_view rest_;
  std::vector<std::string> unclosed_;  // elements without an end tag in the rest of the text
};

// Decodes character references once: &amp; &#8217; &#x2019; &eacute; … . Other text is unchanged.
// Thread-safe.
std::string decode_references(std::string_view text);

// The character of &name; as UTF-8: those of HTML 4, XML and the common ones of HTML 5. Empty if
// the name is unknown.
std::string_view named_character(std::string_view name);

}  // namespace kin::stories
