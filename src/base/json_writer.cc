#include "base/json_writer.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>

#include "base/bytes.h"
#include "base/check.h"
#include "base/utf8.h"

namespace kin {
namespace {

// The bytes that a JSON string may hold as they are. Bytes from 0x80 on are checked as UTF-8.
constexpr auto kPlain = [] {
  std::array<bool, 256> plain{};
  for (int c = 0x20; c < 0x80; ++c) plain[static_cast<std::size_t>(c)] = c != '"' && c != '\\';
  return plain;
}();

// The first byte from `at` on that is not plain, or the end. Works on eight bytes at a time: a byte
// that is not plain sets its highest bit, and only bytes after it may be flagged wrongly.
std::size_t plain_end(std::string_view text, std::size_t at) {
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  constexpr std::uint64_t kHighs = kOnes * 0x80;
  const auto equals = [](std::uint64_t word, std::uint64_t byte) {
    const std::uint64_t zero = word ^ (kOnes * byte);
    return (zero - kOnes) & ~zero;
  };
  for (; at + sizeof(std::uint64_t) <= text.size(); at += sizeof(std::uint64_t)) {
    const auto word = load_le<std::uint64_t>(text.data() + at);
    const std::uint64_t control = (word - kOnes * 0x20) & ~word;
    const std::uint64_t found = (word | control | equals(word, '"') | equals(word, '\\')) & kHighs;
    if (found != 0) return at + static_cast<std::size_t>(std::countr_zero(found)) / 8;
  }
  while (at < text.size() && kPlain[static_cast<unsigned char>(text[at])]) ++at;
  return at;
}

void append_escape(std::string& out, char c) {
  switch (c) {
    case '"': out += "\\\""; return;
    case '\\': out += "\\\\"; return;
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    case '\b': out += "\\b"; return;
    case '\f': out += "\\f"; return;
    // The other control characters have no short escape.
    default: out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c)); return;
  }
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  out.reserve(out.size() + text.size() + 2);
  out += '"';
  // Plain runs are copied at once: most strings are one such run.
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t end = plain_end(text, i);
    out.append(text, i, end - i);
    i = end;
    if (i == text.size()) break;
    if (static_cast<unsigned char>(text[i]) < 0x80) {
      append_escape(out, text[i++]);
    } else if (const std::size_t length =
                   utf8_sequence_length(text.data() + i, text.data() + text.size());
               length > 0) {
      out.append(text, i, length);
      i += length;
    } else {
      // U+FFFD for one byte only, so that a valid sequence behind it is kept.
      out += "\xEF\xBF\xBD";
      ++i;
    }
  }
  out += '"';
}

JsonWriter& JsonWriter::open(char bracket, char closing) {
  before_value();
  out_ += bracket;
  closings_.push_back(closing);
  first_ = true;
  return *this;
}

JsonWriter& JsonWriter::end() {
  KIN_CHECK(!closings_.empty(), "end() without begin");
  const char closing = closings_.back();
  closings_.pop_back();
  // An empty object or array stays on one line.
  if (!first_) new_line();
  out_ += closing;
  first_ = false;
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  before_value();
  append_json_string(out_, name);
  out_ += indent_ > 0 ? ": " : ":";
  after_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::value(std::string_view text) {
  before_value();
  append_json_string(out_, text);
  return *this;
}

JsonWriter& JsonWriter::value(bool truth) {
  return raw(truth ? "true" : "false");
}

JsonWriter& JsonWriter::value(double number) {
  // fmt writes the shortest digits that read back as the same double. JSON has no NaN and no
  // infinity.
  return std::isfinite(number) ? raw(fmt::format("{}", number)) : null();
}

JsonWriter& JsonWriter::raw(std::string_view json) {
  before_value();
  out_ += json;
  return *this;
}

void JsonWriter::before_value() {
  // The comma and the line break came before the key.
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (closings_.empty()) return;
  if (!first_) out_ += ',';
  first_ = false;
  new_line();
}

void JsonWriter::new_line() {
  if (indent_ == 0) return;
  out_ += '\n';
  out_.append(closings_.size() * static_cast<std::size_t>(indent_), ' ');
}

}  // namespace kin
