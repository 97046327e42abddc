#include "text/prepare.h"

#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include <algorithm>

#include "text/code.h"

namespace kin::text {
namespace {

// The separators inside numbers, as in datatrove.
bool is_decimal_separator(UChar32 c) {
  return c == '.' || c == ',' || c == 0x060C || c == 0x066B || (c >= 0x2396 && c <= 0x2398);
}

// Reads the characters of a text, one after the other. Ill-formed bytes are negative.
class Characters {
 public:
  explicit Characters(std::string_view utf8) : text_(utf8) {}
  bool done() const { return at_ >= text_.size(); }
  std::size_t at() const { return at_; }
  void go_to(std::size_t place) { at_ = place; }
  UChar32 next() {
    const auto byte = static_cast<unsigned char>(text_[at_]);
    if (byte < 0x80) {
      ++at_;
      return byte;
    }
    // ICU counts in 32 bits, and a character has at most four bytes.
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(text_.data()) + at_;
    const auto length = static_cast<std::int32_t>(std::min<std::size_t>(text_.size() - at_, 4));
    std::int32_t used = 0;
    UChar32 c = 0;
    U8_NEXT(bytes, used, length, c);
    at_ += static_cast<std::size_t>(used);
    return c;
  }
  // The position after the digits that follow.
  std::size_t skip_digits() {
    std::size_t end = at_;
    while (!done() && u_isdigit(next())) end = at_;
    at_ = end;
    return end;
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

// Each number, with a decimal separator and what follows it, becomes 0.
void replace_numbers(std::string_view utf8, std::string& out) {
  Characters characters(utf8);
  while (!characters.done()) {
    const std::size_t begin = characters.at();
    const UChar32 c = characters.next();
    if (c < 0 || !u_isdigit(c)) {
      out += utf8.substr(begin, characters.at() - begin);
      continue;
    }
    out += '0';
    const std::size_t whole = characters.skip_digits();
    if (characters.done() || !is_decimal_separator(characters.next())) {
      characters.go_to(whole);
      continue;
    }
    const std::size_t separator = characters.at();
    if (characters.skip_digits() == separator) characters.go_to(whole);
  }
}

bool is_ascii_punctuation(char c) {
  return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') ||
         (c >= '{' && c <= '~');
}

}  // namespace

void prepare(std::string_view utf8, Normalization preset, std::string& out) {
  out.clear();
  switch (preset) {
    case Normalization::kNone:
    case Normalization::kLight:
    case Normalization::kStandard:
    case Normalization::kAggressive: out = utf8; return;
    case Normalization::kCode: code_tokens(utf8, guess_comments(utf8), out); return;
    case Normalization::kFineweb: replace_numbers(utf8, out); return;
    case Normalization::kSlimpajama:
      for (const char c : utf8) {
        if (!is_ascii_punctuation(c)) out += c;
      }
      return;
  }
}

}  // namespace kin::text
