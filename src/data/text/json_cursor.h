// Two ways to move from token to token of a JSON record.
#pragma once

#include <cstdint>
#include <string_view>

#include "data/text/json_text.h"

namespace kin::data {

// Uses the token positions that simdjson found in a whole block.
class IndexedCursor {
 public:
  // Positions are relative to `text`.
  IndexedCursor(const char* text, const std::uint32_t* at, const std::uint32_t* last,
                const char* record_end)
      : text_(text), at_(at), last_(last), record_end_(record_end) {}

  bool done() const { return at_ == last_; }
  // The first character of the next token; zero after the last one.
  char next() const { return done() ? '\0' : text_[*at_]; }
  // The start of the next token, or the end of the record.
  const char* place() const { return done() ? record_end_ : text_ + *at_; }
  // From the next token to the one after it, without white space.
  std::string_view token() const {
    const char* const begin = text_ + *at_;
    const char* const end = at_ + 1 == last_ ? record_end_ : text_ + at_[1];
    return without_trailing_space({begin, static_cast<std::size_t>(end - begin)});
  }
  void advance() { ++at_; }

 private:
  const char* text_;
  const std::uint32_t* at_;
  const std::uint32_t* last_;
  const char* record_end_;
};

// Finds tokens on the way. An index of a record takes four times its bytes, which is too much for
// very long records. The strings of the record must be closed (check_strings()).
class ScanningCursor {
 public:
  explicit ScanningCursor(std::string_view record)
      : at_(record.data()), end_(record.data() + record.size()) {
    skip_space();
  }

  bool done() const { return at_ == end_; }
  char next() const { return done() ? '\0' : *at_; }
  const char* place() const { return at_; }
  std::string_view token() {
    if (token_end_ == nullptr) token_end_ = find_end();
    return {at_, static_cast<std::size_t>(token_end_ - at_)};
  }
  void advance() {
    at_ += token().size();
    token_end_ = nullptr;
    skip_space();
  }

 private:
  void skip_space() {
    while (at_ != end_ && is_json_space(*at_)) ++at_;
  }
  const char* find_end() const;

  const char* at_;
  const char* end_;
  const char* token_end_ = nullptr;  // if it is known
};

// The problem of a record's strings: one that is not closed, or a control character in one. nullptr
// if there is none.
const char* check_strings(std::string_view record);

}  // namespace kin::data
