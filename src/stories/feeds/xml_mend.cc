#include <algorithm>
#include <vector>

#include "stories/feeds/xml_text.h"

#include "base/ascii.h"

namespace kin::stories {
namespace {

constexpr std::string_view kSpace = " \t\r\n";
// Below the limit of load_xml(), so that a repaired text is not refused for its depth.
constexpr std::size_t kDeepest = 200;

bool is_name_start(char c) {
  return is_ascii_alpha(c) || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}
bool is_name(char c) {
  return is_name_start(c) || is_ascii_digit(c) || c == '-' || c == '.' || c == ':';
}
std::size_t name_length(std::string_view text) {
  if (text.empty() || !is_name_start(text[0])) return 0;
  std::size_t end = 1;
  while (end < text.size() && is_name(text[end])) ++end;
  return end;
}
bool is_item(std::string_view name) {
  return same_but_for_case(name, "item") || same_but_for_case(name, "entry");
}
// Void elements of HTML. Feeds that forget to escape HTML do not close them.
bool has_no_end(std::string_view name) {
  return same_but_for_case(name, "br") || same_but_for_case(name, "img") ||
         same_but_for_case(name, "hr") || same_but_for_case(name, "wbr") ||
         same_but_for_case(name, "input");
}

class Mender {
 public:
  explicit Mender(std::string_view text)
      : rest_(text),
        last_comment_(text.rfind("-->")),
        last_instruction_(text.rfind("?>")),
        text_(text) {}

  std::string run() {
    while (!rest_.empty()) {
      const std::size_t plain = std::min(rest_.find('<'), rest_.size());
      out_ += rest_.substr(0, plain);
      rest_.remove_prefix(plain);
      if (!rest_.empty()) read_markup();
    }
    finish();
    return std::move(out_);
  }

 private:
  struct Open {
    std::string_view name;
    std::size_t start;  // in out_
  };

  void read_markup() {
    if (rest_.starts_with("<!--")) return skip_to("-->", last_comment_);
    if (rest_.starts_with("<![CDATA[")) return read_cdata();
    if (rest_.starts_with("<?")) return skip_to("?>", last_instruction_);
    if (rest_.size() > 2 && rest_.starts_with("<!") && is_name_start(rest_[2]))
      return skip_declaration();
    if (rest_.starts_with("</") && name_length(rest_.substr(2)) > 0) return read_close();
    if (name_length(rest_.substr(1)) > 0) return read_open();
    escape_bracket();
  }

  // A '<' that begins no markup.
  void escape_bracket() {
    out_ += "&lt;";
    rest_.remove_prefix(1);
  }

  // `last` is the last position of `closing`. It keeps the time linear in a text with many
  // openings.
  void skip_to(std::string_view closing, std::size_t last) {
    const auto here = static_cast<std::size_t>(rest_.data() - text_.data());
    if (last == std::string_view::npos || last < here + 2) return escape_bracket();
    rest_.remove_prefix(rest_.find(closing, 2) + closing.size());
  }

  void read_cdata() {
    // A section that is not closed ends with the text.
    const std::size_t end = std::min(rest_.find("]]>"), rest_.size());
    out_.append(rest_.substr(0, end)).append("]]>");
    rest_.remove_prefix(std::min(end + 3, rest_.size()));
  }

  void skip_declaration() {
    const std::size_t end = rest_.find_first_of(">[");
    // The internal subset has '>' within brackets. Entities that it declares are dropped.
    if (end != std::string_view::npos && rest_[end] == '[') {
      const std::size_t subset = rest_.find(']', end);
      rest_.remove_prefix(std::min(subset, rest_.size()));
    }
    const std::size_t close = rest_.find('>');
    rest_.remove_prefix(close == std::string_view::npos ? rest_.size() : close + 1);
  }

  void read_close() {
    const std::size_t length = name_length(rest_.substr(2));
    const std::string_view name = rest_.substr(2, length);
    rest_.remove_prefix(2 + length);
    // "</b" without '>' ends where the next tag begins.
    const std::size_t end = rest_.find_first_of("<>");
    const bool closed = end != std::string_view::npos && rest_[end] == '>';
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + (closed ? 1 : 0));
    close_to(name);
  }

  void close_to(std::string_view name) {
    const auto found = std::find_if(open_.rbegin(), open_.rend(), [&](const Open& open) {
      return same_but_for_case(open.name, name);
    });
    // An end tag without a start is dropped.
    if (found == open_.rend()) return;
    const auto kept = static_cast<std::size_t>(open_.rend() - found) - 1;
    while (open_.size() > kept) close_last();
  }

  void close_last() {
    out_.append("</").append(open_.back().name).append(">");
    open_.pop_back();
  }

  void read_open() {
    const std::size_t length = name_length(rest_.substr(1));
    const std::string_view name = rest_.substr(1, length);
    // Items do not nest: an item within an item means that an end tag is missing.
    if (is_item(name)) close_to(name);
    const std::size_t start = out_.size();
    rest_.remove_prefix(1 + length);
    out_.append("<").append(name);
    while (read_attribute()) {
    }
    skip_spaces(rest_, kSpace);
    const bool empty = rest_.starts_with("/") || has_no_end(name);
    if (rest_.starts_with("/")) rest_.remove_prefix(1);
    if (rest_.starts_with(">")) rest_.remove_prefix(1);
    // The tag is dropped and its content stays.
    if (!empty && open_.size() >= kDeepest) {
      out_.resize(start);
      return;
    }
    out_ += empty ? "/>" : ">";
    if (!empty) open_.push_back({name, start});
  }

  // False at the end of the tag.
  bool read_attribute() {
    skip_spaces(rest_, kSpace);
    if (rest_.empty() || rest_[0] == '>' || rest_[0] == '<') return false;
    if (rest_.starts_with("/>")) return false;
    const std::size_t length = name_length(rest_);
    // Stray characters in a tag, such as a second quote.
    if (length == 0) {
      rest_.remove_prefix(1);
      return true;
    }
    const std::string_view name = rest_.substr(0, length);
    rest_.remove_prefix(length);
    const std::string_view value = read_value();
    out_.append(" ").append(name).append("=\"");
    // '&' stays as it is: the parser leaves unknown references alone.
    for (const char c : value) out_ += c == '"' ? "&quot;" : c == '<' ? "&lt;" : std::string(1, c);
    out_ += '"';
    return true;
  }

  std::string_view read_value() {
    const std::size_t equals = rest_.find_first_not_of(kSpace);
    if (equals == std::string_view::npos || rest_[equals] != '=') return {};
    rest_.remove_prefix(equals + 1);
    skip_spaces(rest_, kSpace);
    if (rest_.empty()) return {};
    const char quote = rest_[0] == '"' || rest_[0] == '\'' ? rest_[0] : '\0';
    if (quote != '\0') rest_.remove_prefix(1);
    // If the closing quote does not come before the next tag, it is missing.
    std::size_t end =
        quote != '\0' ? rest_.substr(0, to_next_tag()).find(quote) : std::string_view::npos;
    const bool closed = end != std::string_view::npos;
    // Without its quote the value ends with the tag; without any quotes, at white space.
    if (!closed)
      end = std::min(rest_.find_first_of(quote != '\0' ? "><" : " \t\r\n>"), rest_.size());
    const std::string_view value = rest_.substr(0, end);
    rest_.remove_prefix(end + (closed ? 1 : 0));
    return value;
  }

  // The distance to the next '<'. It is cached, because a tag may have any number of attributes.
  std::size_t to_next_tag() {
    const auto here = static_cast<std::size_t>(rest_.data() - text_.data());
    if (next_tag_ < here) next_tag_ = std::min(text_.find('<', here), text_.size());
    return next_tag_ - here;
  }

  void finish() {
    const auto item = std::find_if(open_.begin(), open_.end(),
                                   [](const Open& open) { return is_item(open.name); });
    // The last item was cut off with the text. Half of it would be stored as if it were whole.
    if (item != open_.end()) {
      out_.resize(item->start);
      open_.erase(item, open_.end());
    }
    while (!open_.empty()) close_last();
  }

  std::string_view rest_;
  std::size_t last_comment_;
  std::size_t last_instruction_;
  std::string_view text_;
  std::size_t next_tag_ = 0;
  std::string out_;
  std::vector<Open> open_;
};

}  // namespace

std::string mend_xml(std::string_view utf8) {
  return Mender(utf8).run();
}

}  // namespace kin::stories
