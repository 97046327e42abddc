#include "stories/feeds/html_scanner.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "base/ascii.h"
#include "base/utf8.h"
#include "text/charset.h"

namespace kin::stories {
namespace {

constexpr std::string_view kSpace = " \t\r\n\f";

bool is_alphanumeric(char c) {
  return is_ascii_alpha(c) || is_ascii_digit(c);
}

// Elements whose content readers do not see.
constexpr std::string_view kSkipped[] = {"script",   "style",  "template", "svg",     "math",
                                         "noscript", "iframe", "object",   "noembed", "xmp"};

// Elements that hide the rest of the text if they are not closed, as in a browser.
constexpr std::string_view kRaw[] = {"script", "style", "iframe", "noembed", "xmp"};

bool starts_tag(std::string_view rest) {
  if (rest.size() < 2) return false;
  const char c = rest[1];
  // "1 < 2" and "</3" are text.
  return is_ascii_alpha(c) || c == '!' || c == '?' ||
         (c == '/' && rest.size() > 2 && is_ascii_alpha(rest[2]));
}

// Browsers read the numbers 0x80 to 0x9F as bytes of windows-1252.
std::uint32_t meant_by(std::uint32_t number) {
  if (number >= 0x80 && number < 0xA0) {
    const char32_t meant = text::windows1252_character(static_cast<std::uint8_t>(number));
    if (meant == number) return 0xFFFD;  // windows-1252 has no character there
    number = meant;
  }
  const bool control = number < 0x20 && number != '\t' && number != '\n' && number != '\r';
  const bool surrogate = number >= 0xD800 && number < 0xE000;
  return control || surrogate || number > 0x10FFFF ? 0xFFFD : number;
}

// Decodes the numeric reference at the start of `rest` ("&#…"); returns its length, or 0 if it is
// malformed.
std::size_t decode_numeric(std::string_view rest, std::string& out) {
  const bool hex = rest.size() > 2 && ascii_lower(rest[2]) == 'x';
  const std::size_t start = hex ? 3 : 2;
  if (start >= rest.size()) return 0;
  const char* const begin = rest.data() + start;
  // Ten digits are enough for every character; more are not read.
  const char* const limit = begin + std::min<std::size_t>(rest.size() - start, 10);
  std::uint32_t number = 0;
  const auto [at, error] = std::from_chars(begin, limit, number, hex ? 16 : 10);
  if (at == begin) return 0;
  append_utf8(out, error == std::errc() ? meant_by(number) : 0xFFFD);
  const auto length = static_cast<std::size_t>(at - rest.data());
  // The semicolon is optional, as in browsers.
  return length < rest.size() && rest[length] == ';' ? length + 1 : length;
}

std::size_t decode_named(std::string_view rest, std::string& out) {
  constexpr std::size_t kLongestName = 16;
  std::size_t end = 1;
  while (end < rest.size() && end <= kLongestName && is_alphanumeric(rest[end])) ++end;
  const std::string_view name = rest.substr(1, end - 1);
  const bool closed = end < rest.size() && rest[end] == ';';
  constexpr std::string_view kOpenEnded[] = {"amp", "lt", "gt", "quot", "nbsp"};
  // Old pages leave the semicolon out. In an address, "&lt=5" is a parameter and not a reference.
  const bool may_be_open = (end >= rest.size() || rest[end] != '=') &&
                           std::ranges::find(kOpenEnded, name) != std::end(kOpenEnded);
  if (!closed && !may_be_open) return 0;
  const std::string_view character = named_character(name);
  out += character;
  return character.empty() ? 0 : end + (closed ? 1 : 0);
}

std::size_t find_ignoring_case(std::string_view text, std::string_view lower_needle) {
  const auto same = [](char a, char b) { return ascii_lower(a) == b; };
  const auto found =
      std::search(text.begin(), text.end(), lower_needle.begin(), lower_needle.end(), same);
  return found == text.end() ? std::string_view::npos
                             : static_cast<std::size_t>(found - text.begin());
}

}  // namespace

std::string decode_references(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t plain = std::min(text.find('&'), text.size());
    out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    const bool numeric = text.size() > 1 && text[1] == '#';
    const std::size_t length = numeric ? decode_numeric(text, out) : decode_named(text, out);
    // An ampersand that begins no reference is text.
    if (length == 0) out += '&';
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

std::optional<std::string_view> HtmlPiece::attribute(std::string_view wanted) const {
  for (const auto& [key, value] : attributes) {
    if (key == wanted) return value;
  }
  return std::nullopt;
}

void HtmlScanner::skip_past(std::string_view closing) {
  const std::size_t end = std::min(rest_.find(closing), rest_.size());
  rest_.remove_prefix(std::min(end + closing.size(), rest_.size()));
}

bool HtmlScanner::next(HtmlPiece& piece) {
  while (!rest_.empty()) {
    if (rest_[0] == '<' && starts_tag(rest_)) {
      if (read_markup(piece)) return true;
      continue;
    }
    std::size_t end = 1;
    // One piece up to the next tag, so that callers do not join parts.
    while (end < rest_.size() && !(rest_[end] == '<' && starts_tag(rest_.substr(end)))) ++end;
    piece = {};
    piece.text = rest_.substr(0, end);
    rest_.remove_prefix(end);
    return true;
  }
  return false;
}

bool HtmlScanner::read_markup(HtmlPiece& piece) {
  if (rest_.starts_with("<!--")) {
    rest_.remove_prefix(4);
    // "<!-->" and "<!--->" are whole comments.
    if (rest_.starts_with(">"))
      rest_.remove_prefix(1);
    else if (rest_.starts_with("->"))
      rest_.remove_prefix(2);
    else
      skip_past("-->");
    return false;
  }
  // Not HTML, but feeds have it within HTML. Its content is text.
  if (rest_.starts_with("<![CDATA[")) {
    piece = {};
    rest_.remove_prefix(9);
    piece.text = rest_.substr(0, rest_.find("]]>"));
    skip_past("]]>");
    return true;
  }
  if (rest_[1] == '!' || rest_[1] == '?') {
    skip_past(">");
    return false;
  }
  return read_tag(piece);
}

bool HtmlScanner::read_tag(HtmlPiece& piece) {
  piece = {};
  const bool closing = rest_[1] == '/';
  piece.kind = closing ? HtmlPiece::Kind::kClose : HtmlPiece::Kind::kOpen;
  rest_.remove_prefix(closing ? 2 : 1);
  // Browsers let a name go on up to one of these.
  const std::size_t end = std::min(rest_.find_first_of(" \t\r\n\f/>"), rest_.size());
  piece.name = ascii_lowered(rest_.substr(0, end));
  rest_.remove_prefix(end);
  while (read_attribute(piece)) {
  }
  const bool skipped = std::ranges::find(kSkipped, piece.name) != std::end(kSkipped);
  if (!closing && skipped) skip_element(piece.name);
  return true;
}

// False after the tag's end.
bool HtmlScanner::read_attribute(HtmlPiece& piece) {
  skip_spaces(rest_, " \t\r\n\f/");
  if (rest_.empty()) return false;
  if (rest_[0] == '>') {
    rest_.remove_prefix(1);
    return false;
  }
  // From 1 on: an attribute may begin with '=', as in browsers.
  const std::size_t name_end = std::min(rest_.find_first_of(" \t\r\n\f/>=", 1), rest_.size());
  const std::string name = ascii_lowered(rest_.substr(0, name_end));
  rest_.remove_prefix(name_end);
  // White space around '=' belongs to the attribute only if there is a '='.
  std::string_view after = rest_;
  skip_spaces(after, kSpace);
  constexpr std::size_t kMostAttributes = 64;
  std::string_view value;
  if (!after.empty() && after[0] == '=') {
    after.remove_prefix(1);
    skip_spaces(after, kSpace);
    const bool quoted = !after.empty() && (after[0] == '"' || after[0] == '\'');
    const char quote = quoted ? after[0] : '\0';
    if (quoted) after.remove_prefix(1);
    const std::size_t end =
        std::min(quoted ? after.find(quote) : after.find_first_of(" \t\r\n\f>"), after.size());
    value = after.substr(0, end);
    rest_ = after.substr(std::min(end + (quoted ? 1 : 0), after.size()));
  }
  // Further attributes are skipped, so that a hostile tag costs no memory.
  if (piece.attributes.size() < kMostAttributes)
    piece.attributes.emplace_back(name, decode_references(value));
  return true;
}

void HtmlScanner::skip_element(std::string_view name) {
  if (std::ranges::find(unclosed_, name) != unclosed_.end()) return;
  // Without an end tag the search would run to the end for every such tag: unclosed_ keeps the time
  // linear.
  const std::size_t found = find_ignoring_case(rest_, "</" + std::string(name));
  if (found != std::string_view::npos) {
    rest_.remove_prefix(found);
  } else if (std::ranges::find(kRaw, name) != std::end(kRaw)) {
    rest_ = {};
  } else {
    unclosed_.emplace_back(name);
  }
}

}  // namespace kin::stories
