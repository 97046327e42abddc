#include "cloud/s3/xml.h"

#include <fmt/format.h>

#include "base/ascii.h"
#include "base/utf8.h"

namespace kin::cloud {
namespace {

constexpr int kDeepest = 32;
constexpr std::string_view kSpaces = " \t\r\n";

bool is_name_character(char c) {
  return is_ascii_alpha(c) || is_ascii_digit(c) || c == '_' || c == '-' || c == '.' || c == ':' ||
         static_cast<unsigned char>(c) >= 0x80;
}

// One pass over the text, without recursion: the input controls the depth.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text), rest_(text) {}

  Result<XmlElement> parse() {
    XmlElement outside;
    open_.push_back(&outside);
    while (!rest_.empty()) KIN_RETURN_IF_ERROR(rest_[0] == '<' ? markup() : characters());
    if (open_.size() != 1) return fault("an element is not closed");
    if (outside.children.size() != 1 || !trimmed(outside.text).empty())
      return fault("there is not one root");
    return std::move(outside.children[0]);
  }

 private:
  Error fault(std::string_view what) const {
    return {Code::kDataLoss,
            fmt::format("not well-formed XML at byte {}: {}", text_.size() - rest_.size(), what)};
  }
  // Skips up to and including `end`.
  Result<std::string_view> until(std::string_view begin, std::string_view end) {
    const std::size_t at = rest_.find(end, begin.size());
    if (at == std::string_view::npos) return fault("the text ends too early");
    const std::string_view inside = rest_.substr(begin.size(), at - begin.size());
    rest_.remove_prefix(at + end.size());
    return inside;
  }

  Status markup() {
    if (rest_.starts_with("<?")) return done(until("<?", "?>"));
    if (rest_.starts_with("<!--")) return done(until("<!--", "-->"));
    if (rest_.starts_with("<![CDATA[")) {
      KIN_TRY(const std::string_view text, until("<![CDATA[", "]]>"));
      open_.back()->text += text;
      return Done{};
    }
    if (rest_.starts_with("<!")) return fault("document types are not accepted");
    if (rest_.starts_with("</")) return end_tag();
    return start_tag();
  }
  static Status done(const Result<std::string_view>& skipped) {
    return skipped ? Status(Done{}) : skipped.error();
  }

  std::string_view take_name() {
    std::size_t length = 0;
    while (length < rest_.size() && is_name_character(rest_[length])) ++length;
    const std::string_view name = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return name.substr(name.rfind(':') + 1);
  }

  Status start_tag() {
    rest_.remove_prefix(1);
    const std::string_view name = take_name();
    if (name.empty()) return fault("a tag has no name");
    if (open_.size() > kDeepest) return fault("elements are nested too deeply");
    KIN_RETURN_IF_ERROR(skip_attributes());
    const bool empty = rest_[0] == '/';
    if (empty) rest_.remove_prefix(1);
    if (!rest_.starts_with('>')) return fault("a tag is not closed");
    rest_.remove_prefix(1);
    XmlElement& parent = *open_.back();
    parent.children.push_back({.name = std::string(name), .text = {}});
    // Pointers into `children` stay valid: a parent gets its next child when this one is closed.
    if (!empty) open_.push_back(&parent.children.back());
    return Done{};
  }

  // Skips up to '>' or '/', which is not consumed.
  Status skip_attributes() {
    while (true) {
      skip_spaces(rest_, kSpaces);
      if (rest_.empty()) return fault("the text ends in a tag");
      if (rest_[0] == '>' || rest_[0] == '/') return Done{};
      const std::size_t quote = rest_.find_first_of("\"'<>");
      if (quote == std::string_view::npos || rest_[quote] == '<' || rest_[quote] == '>')
        return fault("an attribute has no value");
      const std::size_t end = rest_.find(rest_[quote], quote + 1);
      if (end == std::string_view::npos) return fault("an attribute is not closed");
      rest_.remove_prefix(end + 1);
    }
  }

  Status end_tag() {
    rest_.remove_prefix(2);
    const std::string_view name = take_name();
    skip_spaces(rest_, kSpaces);
    if (!rest_.starts_with('>')) return fault("a tag is not closed");
    if (open_.size() == 1 || open_.back()->name != name) return fault("a tag closes another");
    rest_.remove_prefix(1);
    open_.pop_back();
    return Done{};
  }

  Status characters() {
    const std::size_t end = std::min(rest_.find_first_of("<&"), rest_.size());
    open_.back()->text += rest_.substr(0, end);
    rest_.remove_prefix(end);
    return rest_.starts_with('&') ? reference() : Status(Done{});
  }

  Status reference() {
    KIN_TRY(const std::string_view name, until("&", ";"));
    std::string& out = open_.back()->text;
    if (name == "lt") return append(out, '<');
    if (name == "gt") return append(out, '>');
    if (name == "amp") return append(out, '&');
    if (name == "quot") return append(out, '"');
    if (name == "apos") return append(out, '\'');
    if (!name.starts_with('#')) return fault("an unknown entity");
    const bool hex = name.starts_with("#x");
    std::uint32_t code = 0;
    const std::string_view digits = name.substr(hex ? 2 : 1);
    const auto [stop, failure] =
        std::from_chars(digits.data(), digits.data() + digits.size(), code, hex ? 16 : 10);
    const bool whole = failure == std::errc() && stop == digits.data() + digits.size();
    if (!whole || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000))
      return fault("a number that is not a character");
    append_utf8(out, code);
    return Done{};
  }
  static Status append(std::string& out, char c) {
    out += c;
    return Done{};
  }

  const std::string_view text_;
  std::string_view rest_;
  std::vector<XmlElement*> open_;
};

}  // namespace

const XmlElement* XmlElement::child(std::string_view wanted) const {
  for (const XmlElement& element : children) {
    if (element.name == wanted) return &element;
  }
  return nullptr;
}

std::string_view XmlElement::text_of(std::string_view wanted) const {
  const XmlElement* const found = child(wanted);
  return found == nullptr ? std::string_view() : found->text;
}

Result<XmlElement> parse_xml(std::string_view text) {
  return Parser(text).parse();
}

std::string xml_escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '&': out += "&amp;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

}  // namespace kin::cloud
