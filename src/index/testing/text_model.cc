#include "index/testing/text_model.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "text/stems.h"
#include "text/tokens.h"

namespace kin::index {
namespace {

bool glob(std::string_view text, std::string_view pattern) {
  if (pattern.empty()) return text.empty();
  if (pattern[0] == kAnyText)
    return glob(text, pattern.substr(1)) || (!text.empty() && glob(text.substr(1), pattern));
  if (text.empty() || (pattern[0] != kAnyCharacter && pattern[0] != text[0])) return false;
  return glob(text.substr(1), pattern.substr(1));
}

int distance(std::string_view a, std::string_view b) {
  if (a.empty() || b.empty()) return static_cast<int>(a.size() + b.size());
  std::vector<std::vector<int>> table(a.size() + 1, std::vector<int>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        table[i][j] = static_cast<int>(i + j);
        continue;
      }
      table[i][j] = std::min({table[i - 1][j] + 1, table[i][j - 1] + 1,
                              table[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
    }
  }
  return table[a.size()][b.size()];
}

std::string lower(std::string_view text) {
  std::string folded;
  text::fold_word(text, folded);
  return folded;
}

}  // namespace

TextModel::TextModel(const TextOptions& options) : options_(options) {}

std::vector<TextModel::Word> TextModel::words(std::string_view text) const {
  auto stemmer = text::Stemmer::create(options_.language);
  std::vector<text::Token> tokens;
  text::split_tokens(text, tokens);
  std::vector<Word> found;
  for (const text::Token& token : tokens) {
    const std::string form = lower(text.substr(token.begin, token.end - token.begin));
    found.push_back({.stem = std::string(stemmer->stem(form)), .form = form});
  }
  return found;
}

void TextModel::put(const TextDocument& document) {
  Entry entry{.document = document, .fields = {}, .length = 0};
  for (std::size_t i = 0; i < document.fields.size(); ++i) {
    entry.fields.push_back(words(document.fields[i]));
    entry.length += options_.fields[i].weight * static_cast<double>(entry.fields.back().size());
    for (const Word& word : entry.fields.back()) {
      stems_.insert(word.stem);
      forms_.insert(word.form);
    }
  }
  documents_[document.number] = std::move(entry);
}

std::vector<std::uint32_t> TextModel::numbers() const {
  std::vector<std::uint32_t> all;
  for (const auto& [number, entry] : documents_) all.push_back(number);
  return all;
}

double TextModel::frequency(const Entry& entry, const std::string& field,
                            const Accepts& accepts) const {
  double sum = 0;
  for (std::size_t i = 0; i < entry.fields.size(); ++i) {
    if (!field.empty() && options_.fields[i].name != field) continue;
    sum += options_.fields[i].weight *
           static_cast<double>(std::ranges::count_if(entry.fields[i], accepts));
  }
  return sum;
}

double TextModel::documents_with(const Accepts& accepts) const {
  double count = 0;
  for (const auto& [number, entry] : documents_) count += frequency(entry, "", accepts) > 0 ? 1 : 0;
  return count;
}

double TextModel::inverse(double with) const {
  const auto all = static_cast<double>(documents_.size());
  return std::log(1 + (all - with + 0.5) / (with + 0.5));
}

double TextModel::average_length() const {
  double sum = 0;
  for (const auto& [number, entry] : documents_) sum += entry.length;
  return documents_.empty() ? 0 : sum / static_cast<double>(documents_.size());
}

double TextModel::saturated(double frequency, double length) const {
  const auto [k1, b] = options_.ranking;
  const double average = average_length();
  const double relative = average > 0 ? length / average : 0;
  return (k1 + 1) * frequency / (frequency + k1 * (1 - b + b * relative));
}

bool TextModel::is_facet(const std::string& name) const {
  return std::ranges::find(options_.facets, name) != options_.facets.end();
}

TextModel::Verdict TextModel::judge_words(const TextQuery& query, const Entry& entry) const {
  if (is_facet(query.field)) {
    for (const FacetValue& facet : entry.document.facets) {
      if (options_.facets[facet.facet] == query.field && lower(facet.value) == lower(query.text))
        return {.matches = true, .score = 0};
    }
    return {};
  }
  Verdict verdict;
  for (const Word& wanted : words(query.text)) {
    const auto same = [&](const Word& word) { return word.stem == wanted.stem; };
    const double tf = frequency(entry, query.field, same);
    if (tf == 0) continue;
    verdict.matches = true;
    verdict.score += inverse(documents_with(same)) * saturated(tf, entry.length);
  }
  return verdict;
}

TextModel::Verdict TextModel::judge_phrase(const TextQuery& query, const Entry& entry) const {
  const std::vector<Word> wanted = words(query.text);
  bool stands = false;
  for (std::size_t i = 0; i < entry.fields.size(); ++i) {
    if (!query.field.empty() && options_.fields[i].name != query.field) continue;
    stands = stands ||
             !std::ranges::search(entry.fields[i], wanted, {}, &Word::stem, &Word::stem).empty();
  }
  if (!stands) return {};
  Verdict verdict{.matches = true, .score = 0};
  for (const Word& part : wanted) {
    const auto same = [&](const Word& word) { return word.stem == part.stem; };
    verdict.score +=
        inverse(documents_with(same)) * saturated(frequency(entry, "", same), entry.length);
  }
  return verdict;
}

TextModel::Verdict TextModel::judge_expansion(const TextQuery& query, const Entry& entry) const {
  std::map<std::string, int> found;
  for (const std::string& form : forms_) {
    if (query.kind == TextQuery::Kind::kPattern) {
      if (glob(form, lower(query.text))) found[form] = 0;
    } else if (const int edits = distance(form, lower(query.text)); edits <= query.distance) {
      found[form] = edits;
    }
  }
  double most = 0;
  for (const auto& [form, edits] : found)
    most = std::max(most, documents_with([&](const Word& word) { return word.form == form; }));
  Verdict verdict;
  for (const auto& [form, edits] : found) {
    const double tf =
        frequency(entry, query.field, [&](const Word& word) { return word.form == form; });
    if (tf == 0) continue;
    verdict.matches = true;
    verdict.score += inverse(most) / (1 + edits) * saturated(tf, entry.length);
  }
  return verdict;
}

TextModel::Verdict TextModel::judge_boolean(const TextQuery& query, const Entry& entry) const {
  Verdict verdict;
  for (const TextQuery& part : query.must_not) {
    if (judge(part, entry).matches) return {};
  }
  for (const TextQuery& part : query.must) {
    const Verdict one = judge(part, entry);
    if (!one.matches) return {};
    verdict.score += one.score;
  }
  bool any = false;
  for (const TextQuery& part : query.should) {
    const Verdict one = judge(part, entry);
    any = any || one.matches;
    verdict.score += one.matches ? one.score : 0;
  }
  const bool only_not = query.must.empty() && query.should.empty() && !query.must_not.empty();
  verdict.matches = any || !query.must.empty() || only_not;
  return verdict.matches ? verdict : Verdict{};
}

TextModel::Verdict TextModel::judge(const TextQuery& query, const Entry& entry) const {
  switch (query.kind) {
    case TextQuery::Kind::kBoolean: return judge_boolean(query, entry);
    case TextQuery::Kind::kEverything: return {.matches = true, .score = 0};
    case TextQuery::Kind::kWords: return judge_words(query, entry);
    case TextQuery::Kind::kPhrase: return judge_phrase(query, entry);
    case TextQuery::Kind::kPattern:
    case TextQuery::Kind::kFuzzy: return judge_expansion(query, entry);
  }
  KIN_UNREACHABLE();
}

std::map<std::uint32_t, double> TextModel::matches(const TextQuery& query) const {
  std::map<std::uint32_t, double> found;
  for (const auto& [number, entry] : documents_) {
    const Verdict verdict = judge(query, entry);
    if (verdict.matches) found[number] = verdict.score;
  }
  return found;
}

TextStatistics TextModel::statistics() const {
  TextStatistics result;
  result.documents = documents_.size();
  for (const auto& [number, entry] : documents_)
    result.total_length += static_cast<std::uint64_t>(std::llround(entry.length * 4));
  for (const std::string& stem : stems_)
    result.frequencies[kStemKey + stem] = static_cast<std::uint64_t>(
        documents_with([&](const Word& word) { return word.stem == stem; }));
  for (const std::string& form : forms_)
    result.frequencies[kFormKey + form] = static_cast<std::uint64_t>(
        documents_with([&](const Word& word) { return word.form == form; }));
  return result;
}

}  // namespace kin::index
