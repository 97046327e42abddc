#include "index/text_leg.h"

#include <algorithm>

#include "base/utf8.h"
#include "text/stop_words.h"
#include "text/tokens.h"

namespace kin::index {
namespace {

constexpr int kMostDistance = 2;  // beyond that nearly every short word is similar

bool is_facet(const TextQuery& query, const TextOptions& options) {
  return !query.field.empty() &&
         std::ranges::find(options.facets, query.field) != options.facets.end();
}

int tolerated(std::string_view word, int distance) {
  const std::size_t length = utf8_characters(word);
  if (length <= 2) return 0;
  return length <= 5 ? std::min(distance, 1) : distance;
}

enum class Occurs : std::uint8_t { kMaybe, kSurely };

class FuzzyMaker {
 public:
  FuzzyMaker(int distance, const TextOptions& options) : distance_(distance), options_(options) {}

  TextQuery make(TextQuery query, Occurs occurs) const {
    if (query.kind == TextQuery::Kind::kBoolean) {
      for (TextQuery& part : query.must) part = make(std::move(part), Occurs::kSurely);
      for (TextQuery& part : query.should) part = make(std::move(part), Occurs::kMaybe);
      return query;
    }
    if (query.kind != TextQuery::Kind::kWords || is_facet(query, options_)) return query;
    return words(std::move(query), occurs);
  }

 private:
  TextQuery words(TextQuery query, Occurs occurs) const {
    std::vector<text::Token> tokens;
    text::split_tokens(query.text, tokens);
    // Several words that must occur are a phrase, which has no fuzzy form.
    if (occurs == Occurs::kSurely && tokens.size() > 1) return query;
    TextQuery any;
    for (const text::Token& token : tokens) {
      const std::string_view word =
          std::string_view(query.text).substr(token.begin, token.end - token.begin);
      const int distance = token.unit ? 0 : tolerated(word, distance_);
      if (distance == 0) continue;
      any.should.push_back({.kind = TextQuery::Kind::kFuzzy,
                            .text = std::string(word),
                            .field = query.field,
                            .distance = distance});
    }
    // The words themselves match a second time here, which ranks them before similar ones.
    any.should.push_back(std::move(query));
    return any;
  }

  int distance_;
  const TextOptions& options_;
};

void add_words(const TextQuery& query, const TextOptions& options, std::string& words) {
  for (const auto* parts : {&query.must, &query.should}) {
    for (const TextQuery& part : *parts) add_words(part, options, words);
  }
  const bool is_text = query.kind == TextQuery::Kind::kWords ||
                       query.kind == TextQuery::Kind::kPhrase ||
                       query.kind == TextQuery::Kind::kFuzzy;
  if (!is_text || query.text.empty() || is_facet(query, options)) return;
  if (!words.empty()) words += ' ';
  words += query.text;
}

}  // namespace

Result<TextQuery> parse_leg(const TextLeg& leg, const TextOptions& options) {
  if (leg.fuzzy < 0 || leg.fuzzy > kMostDistance)
    return Error{Code::kInvalidArgument, "a fuzzy distance must be 0, 1 or 2"};
  TextQuery query = plain_query(leg.query);
  if (leg.syntax == TextLeg::Syntax::kLanguage) {
    KIN_TRY(query, parse_query(leg.query, options));
  }
  return leg.fuzzy == 0 ? query : make_fuzzy(std::move(query), leg.fuzzy, options);
}

TextQuery make_fuzzy(TextQuery query, int distance, const TextOptions& options) {
  return FuzzyMaker(distance, options).make(std::move(query), Occurs::kMaybe);
}

TextQuery without_common(TextQuery query, const std::string& language) {
  using Kind = TextQuery::Kind;
  if (query.kind == Kind::kWords) query.text = text::without_stop_words(query.text, language);
  if (query.kind != Kind::kBoolean) return query;
  std::vector<TextQuery> kept;
  for (TextQuery& part : query.should) {
    part = without_common(std::move(part), language);
    if (part.kind != Kind::kWords || !part.text.empty()) kept.push_back(std::move(part));
  }
  query.should = std::move(kept);
  return query;
}

Result<std::string> extract_words(const TextLeg& leg, const TextOptions& options) {
  if (leg.syntax == TextLeg::Syntax::kPlain) return leg.query;
  KIN_TRY(const TextQuery query, parse_query(leg.query, options));
  std::string words;
  add_words(query, options, words);
  return words;
}

}  // namespace kin::index
