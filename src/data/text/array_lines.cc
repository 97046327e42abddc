#include "data/text/array_lines.h"

#include <fmt/format.h>

#include "base/check.h"
#include "data/text/record_splitter.h"

namespace kin::data {
namespace {

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

}  // namespace

void ArrayLines::go_on(std::uint64_t offset, char last) {
  offset_ = offset;
  state_ = last == ',' ? State::kElement : last == ']' ? State::kAfter : State::kSeparator;
}

Error ArrayLines::problem(std::string_view what) const {
  return Error{Code::kInvalidArgument,
               fmt::format("{}: byte {}: {} (fix the file, or write one record per line)",
                           shown_as_, offset_, what)};
}

Status ArrayLines::turn(char* bytes, std::size_t count) {
  for (std::size_t i = 0; i < count;) {
    if (in_string_ && !escaped_) {
      const std::size_t plain = skip_plain(bytes + i, count - i);
      i += plain;
      offset_ += plain;
      if (i == count) break;
    }
    KIN_RETURN_IF_ERROR(turn_byte(bytes[i]));
    ++i;
    ++offset_;
  }
  return Done{};
}

std::size_t ArrayLines::skip_plain(const char* bytes, std::size_t count) const {
  std::size_t i = 0;
  while (i < count && bytes[i] != '"' && bytes[i] != '\\' && bytes[i] != '\n') ++i;
  return i;
}

Status ArrayLines::turn_byte(char& c) {
  switch (state_) {
    case State::kInside: inside(c); return Done{};
    case State::kScalar:
      if (c != ',' && c != ']' && !is_space(c)) return Done{};
      [[fallthrough]];
    case State::kBehind:
      state_ = State::kSeparator;
      KIN_RETURN_IF_ERROR(between(c));
      c = '\n';
      return Done{};
    case State::kBefore:
    case State::kFirst:
    case State::kElement:
    case State::kSeparator:
    case State::kAfter: return between(c);
  }
  KIN_UNREACHABLE();
}

// Outside of elements.
Status ArrayLines::between(char& c) {
  if (is_space(c)) {
    c = ' ';
    return Done{};
  }
  switch (state_) {
    case State::kBefore:
      // A byte order mark stays: the reader of the lines knows it.
      if (offset_ < kByteOrderMark.size() && c == kByteOrderMark[offset_]) return Done{};
      if (c != '[') return problem("this is not the start of an array");
      state_ = State::kFirst;
      break;
    case State::kSeparator:
      if (c != ',' && c != ']') return problem("a comma or ] is missing in the array");
      state_ = c == ',' ? State::kElement : State::kAfter;
      break;
    case State::kAfter: return problem("something follows the array");
    case State::kFirst:
    case State::kElement:
      if (c == ']' && state_ == State::kFirst) {
        state_ = State::kAfter;
        break;
      }
      if (c == ',' || c == ']') return problem("an element is missing in the array");
      state_ = c == '{' || c == '[' || c == '"' ? State::kInside : State::kScalar;
      if (state_ == State::kInside) inside(c);
      return Done{};
    case State::kInside:
    case State::kScalar:
    case State::kBehind: KIN_UNREACHABLE();
  }
  c = ' ';
  return Done{};
}

void ArrayLines::inside(char& c) {
  if (in_string_) {
    // Malformed, and it must stay so: a space would make it a valid string with other content.
    if (c == '\n') c = '\r';
    if (escaped_) {
      escaped_ = false;
    } else if (c == '\\') {
      escaped_ = true;
    } else if (c == '"') {
      in_string_ = false;
    }
  } else if (c == '"') {
    in_string_ = true;
    return;
  } else if (c == '{' || c == '[') {
    ++depth_;
  } else if (c == '}' || c == ']') {
    --depth_;
  } else if (c == '\n' || c == '\r') {
    c = ' ';
  }
  if (depth_ == 0 && !in_string_) state_ = State::kBehind;
}

Status ArrayLines::finish() const {
  if (state_ == State::kAfter) return Done{};
  return Error{Code::kDataLoss,
               fmt::format("{}: byte {}: the array has no end (was the file copied or downloaded "
                           "completely?)",
                           shown_as_, offset_)};
}

}  // namespace kin::data
