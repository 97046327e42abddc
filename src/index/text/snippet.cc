#include "index/text/snippet.h"

#include <algorithm>
#include <optional>
#include <set>

#include "index/text/terms.h"
#include "text/tokens.h"

namespace kin::index {

Highlighter::Highlighter(std::unique_ptr<TextAnalyzer> analyzer, const TextOptions& options)
    : analyzer_(std::move(analyzer)) {
  for (const TextField& field : options.fields) fields_.push_back(field.name);
}

Result<Highlighter> Highlighter::create(const TextQuery& query, const TextOptions& options) {
  KIN_TRY(auto analyzer, TextAnalyzer::create(options.language));
  Highlighter highlighter(std::move(analyzer), options);
  highlighter.collect(query);
  return highlighter;
}

void Highlighter::collect_words(const TextQuery& query) {
  analyzer_->query(query.text, tokens_);
  for (const TextToken& token : tokens_)
    wanted_.push_back(
        {.kind = Wanted::Kind::kStem, .text = *token.stem, .field = query.field, .distance = 0});
}

void Highlighter::collect(const TextQuery& query) {
  // Excluded parts are not marked: if they occurred, there would be no hit.
  if (query.kind == TextQuery::Kind::kBoolean) {
    for (const auto* list : {&query.must, &query.should}) {
      for (const TextQuery& part : *list) collect(part);
    }
    return;
  }
  if (query.kind == TextQuery::Kind::kEverything) return;
  analyzer_->query(query.text, tokens_);
  const bool units = std::ranges::any_of(tokens_, &TextToken::unit);
  const bool words =
      query.kind == TextQuery::Kind::kWords || query.kind == TextQuery::Kind::kPhrase;
  // Scripts without spaces have no patterns, as in plans of searches.
  if (words || units) return collect_words(query);
  const bool pattern = query.kind == TextQuery::Kind::kPattern;
  Wanted wanted{.kind = pattern ? Wanted::Kind::kPattern : Wanted::Kind::kSimilar,
                .text = {},
                .field = query.field,
                .distance = query.distance};
  text::fold_word(query.text, wanted.text);
  wanted_.push_back(std::move(wanted));
}

bool Highlighter::matches(const Wanted& wanted, const TextToken& token) const {
  const std::string_view form =
      std::string_view(token.form != nullptr ? *token.form : *token.stem).substr(1);
  switch (wanted.kind) {
    case Wanted::Kind::kStem: return *token.stem == wanted.text;
    case Wanted::Kind::kPattern: return matches_pattern(form, wanted.text);
    case Wanted::Kind::kSimilar:
      return edit_distance(wanted.text, form, wanted.distance) <= wanted.distance;
  }
  KIN_UNREACHABLE();
}

std::vector<Highlighter::Mark> Highlighter::find(std::size_t field, std::string_view text) {
  analyzer_->document(text, tokens_);
  std::vector<Mark> marks;
  for (const TextToken& token : tokens_) {
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      const bool here = wanted_[i].field.empty() ||
                        (field < fields_.size() && wanted_[i].field == fields_[field]);
      if (!here || !matches(wanted_[i], token)) continue;
      const TextRange range{.begin = token.begin, .end = token.end};
      // Pairs of characters overlap: join them to one mark.
      if (!marks.empty() && range.begin < marks.back().range.end) {
        marks.back().range.end = std::max(marks.back().range.end, range.end);
      } else {
        marks.push_back({.range = range, .wanted = i});
      }
      break;
    }
  }
  return marks;
}

std::vector<TextRange> Highlighter::marks(std::size_t field, std::string_view text) {
  std::vector<TextRange> ranges;
  for (const Mark& mark : find(field, text)) ranges.push_back(mark.range);
  return ranges;
}

// Adds whole words on both sides, as far as `length` allows.
TextRange Highlighter::widen(TextRange core, std::string_view text, std::size_t length) const {
  TextRange part = core;
  // A third of the room goes before the marks: what follows explains them more often.
  const std::size_t before = (length - std::min<std::size_t>(length, core.end - core.begin)) / 3;
  const auto first = std::ranges::find_if(
      tokens_, [&](const TextToken& token) { return token.begin + before >= core.begin; });
  if (first != tokens_.end()) part.begin = std::min(core.begin, first->begin);
  for (const TextToken& token : tokens_) {
    if (token.begin >= core.end && token.end - part.begin <= length)
      part.end = std::max(part.end, token.end);
  }
  // Include what follows the last word, such as a full stop.
  if (text.size() - part.begin <= length) part.end = static_cast<std::uint32_t>(text.size());
  return part;
}

Snippet Highlighter::snippet(std::size_t field, std::string_view text, std::size_t length) {
  const std::vector<Mark> marks = find(field, text);
  Snippet best;
  std::size_t most = 0;
  std::optional<TextRange> core;
  for (std::size_t first = 0; first < marks.size(); ++first) {
    // The marks from `first` on that fit. The first one counts even if it is too long by itself.
    std::set<std::size_t> different;
    std::size_t end = first;
    while (end < marks.size() &&
           (end == first || marks[end].range.end - marks[first].range.begin <= length))
      different.insert(marks[end++].wanted);
    // Different words count most; of parts with as many, the one with more marks is better.
    const std::size_t worth = 100 * different.size() + std::min<std::size_t>(end - first, 99);
    if (worth <= most) continue;
    most = worth;
    core = {.begin = marks[first].range.begin, .end = marks[end - 1].range.end};
  }
  best.part = widen(core.value_or(TextRange{}), text, length);
  for (const Mark& mark : marks) {
    if (mark.range.begin >= best.part.begin && mark.range.end <= best.part.end)
      best.marks.push_back(mark.range);
  }
  return best;
}

}  // namespace kin::index
