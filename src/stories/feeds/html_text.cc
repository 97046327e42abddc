#include "stories/feeds/html_text.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "base/ascii.h"
#include "base/utf8.h"
#include "stories/feeds/html_scanner.h"

namespace kin::stories {
namespace {

// Inline elements: they do not separate words.
bool is_inline(std::string_view name) {
  static constexpr std::string_view kInline[] = {
      "a",      "abbr",   "acronym", "b",   "bdi",  "bdo",  "big", "cite", "code", "del",   "dfn",
      "em",     "font",   "i",       "ins", "kbd",  "mark", "q",   "s",    "samp", "small", "span",
      "strike", "strong", "sub",     "sup", "time", "tt",   "u",   "var",  "wbr"};
  return std::ranges::find(kInline, name) != std::end(kInline);
}

std::uint32_t character_at(std::string_view text, std::size_t length) {
  // By the length of the sequence.
  static constexpr std::uint8_t kLeadBits[5] = {0, 0x7F, 0x1F, 0x0F, 0x07};
  std::uint32_t c = static_cast<std::uint8_t>(text[0]) & kLeadBits[length];
  for (std::size_t i = 1; i < length; ++i)
    c = (c << 6) | (static_cast<std::uint8_t>(text[i]) & 0x3F);
  return c;
}

enum class Look { kSpace, kHidden, kSeen };

Look look_of(std::uint32_t c) {
  if (c <= 0x20 || c == 0x85 || c == 0xA0 || c == 0x1680 || c == 0x2028 || c == 0x2029 ||
      (c >= 0x2000 && c <= 0x200A) || c == 0x202F || c == 0x205F || c == 0x3000)
    return Look::kSpace;
  // U+200C and U+200D are left alone: Persian and emoji need them.
  const bool hidden = (c >= 0x7F && c < 0xA0) || c == 0xAD || c == 0x200B || c == 0x200E ||
                      c == 0x200F || (c >= 0x202A && c <= 0x202E) || (c >= 0x2060 && c <= 0x206F) ||
                      c == 0xFEFF || (c >= 0xFFF9 && c <= 0xFFFB) || (c & 0xFFFE) == 0xFFFE ||
                      (c >= 0xFDD0 && c <= 0xFDEF) || (c >= 0xE0000 && c <= 0xE001F);
  return hidden ? Look::kHidden : Look::kSeen;
}

// Decodes references that remain after decoding once, unless the result would be markup: headlines
// about markup are written like that.
std::string without_left_references(const std::string& text) {
  // The usual case.
  if (text.find('&') == std::string::npos) return text;
  std::string decoded = decode_references(text);
  const bool spells_markup = decoded.find_first_of("<>") != std::string::npos &&
                             text.find_first_of("<>") == std::string::npos;
  return spells_markup ? text : decoded;
}

// True if the text still has markup: an inline element with start and end tag. A single tag may be
// the subject of the headline.
bool has_left_markup(std::string_view text) {
  // Avoids scanning most texts.
  if (text.find("</") == std::string_view::npos) return false;
  const auto formats = [](std::string_view name) {
    return is_inline(name) || name == "p" || name == "div" || name == "script" || name == "style";
  };
  std::set<std::string> opened;
  HtmlScanner scanner(text);
  HtmlPiece piece;
  while (scanner.next(piece)) {
    if (piece.kind == HtmlPiece::Kind::kOpen && formats(piece.name)) opened.insert(piece.name);
    if (piece.kind == HtmlPiece::Kind::kClose && opened.contains(piece.name)) return true;
  }
  return false;
}

// Elements that feeds use in titles.
bool formats_titles(std::string_view name) {
  static constexpr std::string_view kOthers[] = {
      "p",  "div", "br", "hr",  "h1",     "h2",   "h3",    "h4",     "h5",   "h6",
      "ul", "ol",  "li", "img", "center", "nobr", "blink", "script", "style"};
  return is_inline(name) || std::ranges::find(kOthers, name) != std::end(kOthers);
}

// A tag in a text; its '<' is at `at`.
struct Tag {
  std::size_t at = 0;
  std::string name{};  // in lower case
  bool closes = false;
  bool has_attributes = false;
};

std::optional<Tag> tag_at(std::string_view text, std::size_t at) {
  // Longer tags are ignored, so that very many brackets cost little time.
  constexpr std::size_t kLongestTag = 1'000;
  std::string_view inside = text.substr(at + 1, kLongestTag);
  const std::size_t end = inside.find('>');
  if (end == std::string_view::npos) return std::nullopt;
  inside = inside.substr(0, end);
  Tag tag{.at = at};
  tag.closes = inside.starts_with('/');
  if (tag.closes) inside.remove_prefix(1);
  const std::size_t name_end = std::min(inside.find_first_of(" \t\r\n/"), inside.size());
  tag.name = ascii_lowered(inside.substr(0, name_end));
  tag.has_attributes = inside.find('=') != std::string_view::npos;
  return tag;
}

// The places of '<' that begin markup.
std::set<std::size_t> markup_in(std::string_view text) {
  std::vector<Tag> tags;
  std::set<std::size_t> markup;
  for (std::size_t at = text.find('<'); at != std::string_view::npos; at = text.find('<', at + 1)) {
    if (text.substr(at).starts_with("<!--")) markup.insert(at);
    auto tag = tag_at(text, at);
    if (tag && formats_titles(tag->name)) tags.push_back(std::move(*tag));
  }
  std::map<std::string, std::size_t, std::less<>> closing;  // the next end tag of each name
  for (auto tag = tags.rbegin(); tag != tags.rend(); ++tag) {
    if (tag->has_attributes || tag->at == 0 || tag->name == "br" || tag->name == "wbr")
      markup.insert(tag->at);
    if (tag->closes) {
      closing[tag->name] = tag->at;
    } else if (const auto close = closing.find(tag->name); close != closing.end()) {
      markup.insert(tag->at);
      markup.insert(close->second);
    }
  }
  return markup;
}

// Escapes each '<' that does not begin markup.
std::string with_literal_brackets(std::string_view text) {
  const std::set<std::size_t> markup = markup_in(text);
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '<' && !markup.contains(i))
      out += "&lt;";
    else
      out += text[i];
  }
  return out;
}

}  // namespace

std::string one_line(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  bool pending = false;
  while (!text.empty()) {
    const bool ascii = static_cast<std::uint8_t>(text[0]) < 0x80;
    const std::size_t length =
        ascii ? 1 : utf8_sequence_length(text.data(), text.data() + text.size());
    // A byte that is not UTF-8 is shown as U+FFFD.
    const Look look = length == 0 ? Look::kSeen : look_of(character_at(text, length));
    pending |= look == Look::kSpace;
    if (look == Look::kSeen) {
      // Written when the next character comes, so there is no space at either end.
      if (pending && !out.empty()) out += ' ';
      pending = false;
      out += length == 0 ? std::string_view("\uFFFD") : text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

std::string html_to_text(std::string_view html) {
  std::string text;
  text.reserve(html.size());
  HtmlScanner scanner(html);
  HtmlPiece piece;
  while (scanner.next(piece)) {
    if (piece.kind == HtmlPiece::Kind::kText) text += decode_references(piece.text);
    // Block elements and <br> separate words; <b> within a word does not.
    else if (!is_inline(piece.name))
      text += ' ';
  }
  return one_line(text);
}

std::string feed_text(std::string_view html) {
  std::string text = html_to_text(html);
  // Once is enough for correct feeds. Many escape their HTML twice.
  if (has_left_markup(text)) text = html_to_text(text);
  return one_line(without_left_references(text));
}

std::string title_text(std::string_view html) {
  if (html.find('<') == std::string_view::npos && html.find('&') == std::string_view::npos)
    return one_line(html);
  std::string text = html_to_text(with_literal_brackets(html));
  // As in feed_text().
  if (has_left_markup(text)) text = html_to_text(with_literal_brackets(text));
  return one_line(without_left_references(text));
}

std::string clipped(std::string text, std::size_t most) {
  if (text.size() <= most) return text;
  constexpr std::string_view kEllipsis = "…";
  std::size_t end = character_start(text, most - kEllipsis.size());
  const std::size_t space = text.rfind(' ', end);
  // A space far back would cut too much, as in languages without spaces.
  if (space != std::string::npos && space + 24 > end) end = space;
  text.resize(end);
  return text.append(kEllipsis);
}

}  // namespace kin::stories
