#include "index/text/query.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

namespace kin::index {
namespace {

constexpr int kDeepest = 64;  // the parser calls itself for every level
constexpr std::size_t kLongestQuery = 1 << 16;

// Control characters count as spaces, so that two of them can stand for wildcards.
bool is_space(char c) {
  return static_cast<unsigned char>(c) <= ' ';
}

enum class Occur : std::uint8_t { kShould, kMust, kMustNot };

struct Clause {
  Occur occur = Occur::kShould;
  TextQuery query{};
};

// A word as typed, without its escapes.
struct RawWord {
  std::string text{};
  bool pattern = false;
  std::optional<std::size_t> tilde{};  // where one stands in `text`
  std::size_t begin = 0;               // in the query
  std::size_t tilde_at = 0;            // in the query
};

class QueryParser {
 public:
  QueryParser(std::string_view text, const TextOptions& options) : text_(text), options_(options) {}

  Result<TextQuery> run() {
    if (text_.size() > kLongestQuery)
      return Error{Code::kInvalidArgument,
                   fmt::format("a query has at most {} bytes", kLongestQuery)};
    KIN_TRY(TextQuery query, parse_any(0));
    if (at_ < text_.size()) return wrong(at_, "there is no ( for this )");
    return query;
  }

 private:
  Error wrong(std::size_t at, std::string_view what) const {
    std::string line;
    std::size_t column = 1;
    for (std::size_t i = 0; i < text_.size(); ++i) {
      line += is_space(text_[i]) ? ' ' : text_[i];
      // Columns count characters, not bytes.
      const bool starts = (static_cast<unsigned char>(text_[i]) & 0xC0) != 0x80;
      if (i < at && starts) ++column;
    }
    return Error{Code::kInvalidArgument, fmt::format("{} (column {} of the query)\n  {}\n  {:>{}}",
                                                     what, column, line, "^", column)};
  }

  void skip_spaces() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }
  bool at_end() {
    skip_spaces();
    return at_ == text_.size() || text_[at_] == ')';
  }
  bool at_keyword(std::string_view keyword) {
    skip_spaces();
    if (!text_.substr(at_).starts_with(keyword)) return false;
    const std::size_t after = at_ + keyword.size();
    return after == text_.size() || is_space(text_[after]) || text_[after] == '(' ||
           text_[after] == ')' || text_[after] == '"';
  }
  bool take_keyword(std::string_view keyword) {
    if (!at_keyword(keyword)) return false;
    at_ += keyword.size();
    return true;
  }

  // Clauses joined by OR or by nothing.
  Result<TextQuery> parse_any(int depth) {
    TextQuery query;
    bool after_or = false;  // an OR stands before the clause
    while (!at_end()) {
      if (at_keyword("OR")) return wrong(at_, "OR needs something before it");
      KIN_TRY(Clause clause, parse_all(depth));
      const std::size_t operator_at = (skip_spaces(), at_);
      const bool before_or = take_keyword("OR");
      if (before_or && at_end()) return wrong(operator_at, "OR needs something after it");
      add(query, std::move(clause), after_or || before_or);
      after_or = before_or;
    }
    if (query.must.empty() && query.must_not.empty() && query.should.size() == 1)
      return TextQuery(std::move(query.should.front()));
    return query;
  }

  static void add(TextQuery& query, Clause clause, bool beside_or) {
    switch (clause.occur) {
      case Occur::kMust: query.must.push_back(std::move(clause.query)); return;
      case Occur::kShould: query.should.push_back(std::move(clause.query)); return;
      case Occur::kMustNot: break;
    }
    // Beside OR a negation is an alternative of its own: a OR NOT b matches documents without b.
    if (!beside_or) {
      query.must_not.push_back(std::move(clause.query));
      return;
    }
    TextQuery without;
    without.must_not.push_back(std::move(clause.query));
    query.should.push_back(std::move(without));
  }

  // Clauses joined by AND.
  Result<Clause> parse_all(int depth) {
    if (at_keyword("AND")) return wrong(at_, "AND needs something before it");
    KIN_TRY(Clause first, parse_one(depth));
    if (!at_keyword("AND")) return first;
    TextQuery all;
    const auto take = [&all](Clause clause) {
      auto& list = clause.occur == Occur::kMustNot ? all.must_not : all.must;
      list.push_back(std::move(clause.query));
    };
    take(std::move(first));
    while (at_keyword("AND")) {
      const std::size_t operator_at = at_;
      take_keyword("AND");
      if (at_end() || at_keyword("OR") || at_keyword("AND"))
        return wrong(operator_at, "AND needs something after it");
      KIN_TRY(Clause next, parse_one(depth));
      take(std::move(next));
    }
    return Clause{.query = std::move(all)};
  }

  Result<Clause> parse_one(int depth) {
    skip_spaces();
    const std::size_t begin = at_;
    bool negative = false;
    while (at_keyword("NOT")) {
      const std::size_t operator_at = at_;
      take_keyword("NOT");
      negative = !negative;
      if (at_end() || at_keyword("OR") || at_keyword("AND"))
        return wrong(operator_at, "NOT needs something after it");
    }
    Clause clause;
    // A sign belongs to the word that it touches; alone it is punctuation.
    const bool signed_clause = (text_[at_] == '+' || text_[at_] == '-') && at_ + 1 < text_.size() &&
                               !is_space(text_[at_ + 1]) && text_[at_ + 1] != ')';
    if (signed_clause) {
      clause.occur = text_[at_] == '+' ? Occur::kMust : Occur::kMustNot;
      ++at_;
    }
    // NOT -a is a.
    if (negative) clause.occur = clause.occur == Occur::kMustNot ? Occur::kShould : Occur::kMustNot;
    if (depth >= kDeepest) return wrong(begin, "the parentheses are too deep");
    KIN_TRY(clause.query, parse_operand(depth, ""));
    return clause;
  }

  Result<TextQuery> parse_operand(int depth, const std::string& field) {
    if (text_[at_] == '(') return parse_group(depth, field);
    if (text_[at_] == '"') return parse_phrase(field);
    if (field.empty()) {
      KIN_TRY(const std::string name, parse_field());
      if (!name.empty()) return parse_operand(depth, name);
    }
    KIN_TRY(const RawWord word, parse_word());
    return query_of(word, field);
  }

  Result<TextQuery> parse_group(int depth, const std::string& field) {
    const std::size_t open = at_++;
    // At the end of the text the error is that nothing closes the group.
    if (at_end() && at_ < text_.size()) return wrong(open, "there is nothing in the parentheses");
    KIN_TRY(TextQuery query, parse_any(depth + 1));
    if (at_ == text_.size()) return wrong(open, "this ( is not closed");
    ++at_;
    if (!field.empty()) give_field(query, field);
    return query;
  }

  static void give_field(TextQuery& query, const std::string& field) {
    if (query.kind != TextQuery::Kind::kBoolean) {
      if (query.field.empty()) query.field = field;
      return;
    }
    for (auto* list : {&query.must, &query.should, &query.must_not}) {
      for (TextQuery& part : *list) give_field(part, field);
    }
  }

  Result<TextQuery> parse_phrase(const std::string& field) {
    const std::size_t open = at_++;
    TextQuery query{.kind = TextQuery::Kind::kPhrase, .field = field};
    for (; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      query.text += is_space(text_[at_]) ? ' ' : text_[at_];
    }
    if (at_ == text_.size()) return wrong(open, "this \" is not closed");
    ++at_;
    if (at_ < text_.size() && (text_[at_] == '~' || text_[at_] == '*'))
      return wrong(at_, "~ and * belong to words, not to phrases");
    return query;
  }

  // The name of a field and its colon, if they come next.
  Result<std::string> parse_field() {
    std::size_t end = at_;
    while (end < text_.size() && !is_space(text_[end]) &&
           std::string_view("():\"\\*?~").find(text_[end]) == std::string_view::npos)
      ++end;
    if (end == at_ || end == text_.size() || text_[end] != ':') return std::string();
    std::string name(text_.substr(at_, end - at_));
    if (!knows(name)) {
      std::vector<std::string> names;
      for (const TextField& field : options_.fields) names.push_back(field.name);
      names.insert(names.end(), options_.facets.begin(), options_.facets.end());
      return wrong(at_,
                   fmt::format("there is no field \"{}\" (there are {}; put a text with a colon "
                               "in quotes)",
                               name, fmt::join(names, ", ")));
    }
    at_ = end + 1;
    if (at_ == text_.size() || is_space(text_[at_]) || text_[at_] == ')')
      return wrong(end, fmt::format("there is nothing after \"{}:\"", name));
    return name;
  }

  bool knows(std::string_view name) const {
    return std::ranges::find(options_.fields, name, &TextField::name) != options_.fields.end() ||
           std::ranges::find(options_.facets, name) != options_.facets.end();
  }

  Result<RawWord> parse_word() {
    RawWord word{.begin = at_};
    for (; at_ < text_.size() && !is_space(text_[at_]); ++at_) {
      const char c = text_[at_];
      if (c == '(' || c == ')' || c == '"') break;
      if (c == '\\' && at_ + 1 < text_.size() && !is_space(text_[at_ + 1])) {
        word.text += text_[++at_];
        continue;
      }
      if (c == '~') {
        word.tilde = word.text.size();
        word.tilde_at = at_;
      }
      word.pattern = word.pattern || c == '*' || c == '?';
      word.text += c == '*' ? kAnyText : c == '?' ? kAnyCharacter : c;
    }
    return word;
  }

  Result<TextQuery> query_of(const RawWord& word, const std::string& field) const {
    if (word.text == std::string(1, kAnyText) && field.empty())
      return TextQuery{.kind = TextQuery::Kind::kEverything};
    if (word.tilde && *word.tilde > 0) return fuzzy(word, field);
    // A question mark at the end of a plain word is punctuation far more often than a pattern.
    std::string text = word.text;
    bool pattern = word.pattern;
    if (pattern && text.find(kAnyText) == std::string::npos &&
        text.find(kAnyCharacter) == text.size() - 1) {
      text.pop_back();
      pattern = false;
    }
    return TextQuery{.kind = pattern ? TextQuery::Kind::kPattern : TextQuery::Kind::kWords,
                     .text = std::move(text),
                     .field = field};
  }

  Result<TextQuery> fuzzy(const RawWord& word, const std::string& field) const {
    const std::string distance = word.text.substr(*word.tilde + 1);
    if (distance != "" && distance != "0" && distance != "1" && distance != "2")
      return wrong(word.tilde_at + 1, "the distance after ~ is 0, 1 or 2");
    if (word.pattern) return wrong(word.tilde_at, "a word has either ~ or * and ?");
    return TextQuery{.kind = TextQuery::Kind::kFuzzy,
                     .text = word.text.substr(0, *word.tilde),
                     .field = field,
                     .distance = distance.empty() ? 1 : distance.front() - '0'};
  }

  std::string_view text_;
  const TextOptions& options_;
  std::size_t at_ = 0;
};

}  // namespace

Result<TextQuery> parse_query(std::string_view text, const TextOptions& options) {
  return QueryParser(text, options).run();
}

TextQuery plain_query(std::string_view text) {
  return {.kind = TextQuery::Kind::kWords, .text = std::string(text)};
}

}  // namespace kin::index
