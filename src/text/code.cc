#include "text/code.h"

#include <algorithm>
#include <array>
#include <span>

#include "base/ascii.h"

namespace kin::text {
namespace {

bool is_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

// A letter, a digit, or a part of a character beyond ASCII.
bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

std::string_view without_spaces(std::string_view line) {
  while (!line.empty() && is_space(line.front())) line.remove_prefix(1);
  while (!line.empty() && is_space(line.back())) line.remove_suffix(1);
  return line;
}

// Whether the line begins with one of these words, as a whole word.
bool begins_with_word(std::string_view line, std::span<const std::string_view> words,
                      bool any_case) {
  std::size_t length = 0;
  while (length < line.size() && is_name(line[length])) ++length;
  const std::string_view first = line.substr(0, length);
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    if (!any_case) return first == word;
    return first.size() == word.size() &&
           std::equal(first.begin(), first.end(), word.begin(), [](char a, char b) {
             return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
           });
  });
}

constexpr auto kPreprocessor =
    std::to_array<std::string_view>({"#include", "#define", "#if", "#ifdef", "#ifndef", "#else",
                                     "#endif", "#pragma", "#undef", "#region", "#error", "#["});
constexpr auto kHashWords = std::to_array<std::string_view>(
    {"def", "elif", "except", "import", "from", "echo", "fi", "esac", "done", "require", "puts",
     "export", "unset", "pass", "print", "with", "lambda", "library", "use"});
constexpr auto kSqlWords = std::to_array<std::string_view>(
    {"select", "insert", "update", "delete", "create", "alter", "drop", "where", "group", "order",
     "having", "inner", "left", "union"});
constexpr auto kLuaWords = std::to_array<std::string_view>({"local", "elseif", "repeat"});

// Points for each way to write comments.
struct Votes {
  int slash = 0;
  int hash = 0;
  int dash = 0;
};

bool is_preprocessor(std::string_view line) {
  return std::any_of(kPreprocessor.begin(), kPreprocessor.end(),
                     [&](std::string_view directive) { return line.starts_with(directive); });
}

void vote(std::string_view line, Votes& votes) {
  if (line.starts_with("//") || line.starts_with("/*") || line.starts_with("*/")) votes.slash += 4;
  if (line.starts_with("--") && !line.starts_with("---")) votes.dash += 4;
  if (is_preprocessor(line)) {
    votes.slash += 4;
  } else if (line.front() == '#') {
    votes.hash += 4;
  }
  if (line.back() == '{' || line == "}" || line == "};") votes.slash += 2;
  if (line.back() == ';') votes.slash += 1;
  if (line.back() == ':') votes.hash += 2;
  const bool ended = line.back() == ';';
  if (!ended && begins_with_word(line, kHashWords, false)) votes.hash += 2;
  if (begins_with_word(line, kSqlWords, true)) votes.dash += 3;
  if (!ended && begins_with_word(line, kLuaWords, false)) votes.dash += 3;
  if (line.find(" // ") != std::string_view::npos) votes.slash += 1;
  if (line.find(" # ") != std::string_view::npos) votes.hash += 1;
  if (line.find(" -- ") != std::string_view::npos) votes.dash += 1;
}

// Writes tokens. One thread only.
class Tokens {
 public:
  Tokens(std::string_view text, Comments comments, std::string& out)
      : text_(text), comments_(comments), out_(out) {}

  void write() {
    out_.clear();
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (is_space(c)) {
        ++at_;
      } else if (const std::size_t comment = comment_length(); comment > 0) {
        at_ += comment;
      } else if (const std::size_t string = string_length(); string > 0) {
        put(string);
      } else {
        put(is_name(c) ? name_length() : 1);
      }
    }
  }

 private:
  std::string_view rest() const { return text_.substr(at_); }
  void put(std::size_t length) {
    if (!out_.empty()) out_ += ' ';
    out_ += text_.substr(at_, length);
    at_ += length;
  }
  std::size_t name_length() const {
    std::size_t length = 1;
    while (at_ + length < text_.size() && is_name(text_[at_ + length])) ++length;
    return length;
  }
  // Up to the end of the line.
  std::size_t line_length() const { return std::min(rest().find('\n'), rest().size()); }
  // The length up to and including `end`; the whole rest if `end` is missing.
  std::size_t length_until(std::string_view end, std::size_t from) const {
    const std::size_t found = rest().find(end, from);
    return found == std::string_view::npos ? rest().size() : found + end.size();
  }

  // 0 if no comment begins here.
  std::size_t comment_length() const {
    const std::string_view next = rest();
    switch (comments_) {
      case Comments::kNone: return 0;
      case Comments::kSlash:
        if (next.starts_with("//")) return line_length();
        return next.starts_with("/*") ? length_until("*/", 2) : 0;
      case Comments::kHash: return next.front() == '#' && hash_begins() ? line_length() : 0;
      case Comments::kDash:
        if (next.starts_with("--[[")) return length_until("]]", 4);
        if (next.starts_with("--")) return line_length();
        return next.starts_with("/*") ? length_until("*/", 2) : 0;
      case Comments::kMarkup: return next.starts_with("<!--") ? length_until("-->", 4) : 0;
    }
    return 0;
  }

  // In a shell, $#, ${#list} and a # inside a name do not begin a comment.
  bool hash_begins() const {
    if (at_ == 0) return true;
    constexpr std::string_view kBefore = ";()[],:}\"'";
    return is_space(text_[at_ - 1]) || kBefore.find(text_[at_ - 1]) != std::string_view::npos;
  }

  // 0 if no string begins here.
  std::size_t string_length() const {
    const char quote = text_[at_];
    if (comments_ == Comments::kMarkup || (quote != '"' && quote != '\'' && quote != '`')) return 0;
    if (comments_ == Comments::kHash) {
      for (const std::string_view triple : {"\"\"\"", "'''"}) {
        if (rest().starts_with(triple)) return length_until(triple, 3);
      }
    }
    const bool may_break = quote == '`';
    for (std::size_t length = 1; at_ + length < text_.size(); ++length) {
      const char c = text_[at_ + length];
      if (c == quote) return length + 1;
      if (c == '\n' && !may_break) return 0;
      if (c == '\\' && at_ + length + 1 < text_.size()) ++length;
    }
    return 0;
  }

  std::string_view text_;
  Comments comments_;
  std::string& out_;
  std::size_t at_ = 0;
};

}  // namespace

Comments guess_comments(std::string_view utf8) {
  constexpr std::size_t kEnough = 16 << 10;
  std::string_view rest = without_spaces(utf8.substr(0, kEnough));
  if (rest.starts_with("#!"))
    return rest.substr(0, rest.find('\n')).find("node") == std::string_view::npos
               ? Comments::kHash
               : Comments::kSlash;
  if (rest.starts_with("<?php")) return Comments::kSlash;
  if (rest.starts_with("<") && rest.find("</") != std::string_view::npos) return Comments::kMarkup;
  if (rest.starts_with("<?xml") || rest.starts_with("<!")) return Comments::kMarkup;
  Votes votes;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = without_spaces(rest.substr(0, end));
    if (!line.empty()) vote(line, votes);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  const int most = std::max({votes.slash, votes.hash, votes.dash});
  if (most < 2) return Comments::kNone;
  if (votes.dash == most) return Comments::kDash;
  return votes.slash == most ? Comments::kSlash : Comments::kHash;
}

void code_tokens(std::string_view utf8, Comments comments, std::string& out) {
  Tokens(utf8, comments, out).write();
}

}  // namespace kin::text
