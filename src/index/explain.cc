#include "index/explain.h"

#include <fmt/format.h>

#include <algorithm>

#include "index/shard/legs.h"
#include "index/shard/search.h"
#include "index/text_query_legs.h"

namespace kin::index {
namespace {

Result<std::optional<Nearness>> nearness(const ShardView& view, const ShardQuery& query,
                                         std::uint32_t number) {
  using Found = std::optional<Nearness>;
  KIN_TRY(const VectorQuestion question, vector_question(view, *query.vector, query.text));
  if (question.vector.empty()) return Found();
  const IdFilter only = IdFilter::of(std::span(&number, 1));
  KIN_TRY(const auto hits,
          view.nearest(*question.space, question.vector, {.k = 1, .filter = &only}));
  if (hits.empty()) return Found();
  const Distance distance = question.space->index->space().distance;
  return Found({.space = question.space->name,
                .distance = distance,
                .similarity = similarity(distance, hits.front().distance)});
}

Result<TextQuery> shown_query(const ShardView& view, const ShardQuery& query) {
  if (query.text) return text_query(*query.text, view.text().options());
  return query.vector ? plain_query(query.vector->text) : TextQuery{};
}

struct Said {
  std::string_view title = {};
  std::string_view text = {};
};

Said said(const StoredDocument& document) {
  if (const auto* entity = std::get_if<StoredEntity>(&document))
    return {entity->entity.title, entity->entity.text};
  if (const auto* edge = std::get_if<StoredEdge>(&document)) return {{}, edge->edge.summary};
  if (const auto* fragment = std::get_if<EntityFragmentRef>(&document))
    return {{}, fragment->fragment.fragment.text};
  return {{}, std::get<EdgeFragmentRef>(document).fragment.fragment.text};
}

// One thread only, as its highlighter.
class SnippetMaker {
 public:
  SnippetMaker(Highlighter highlighter, const TextOptions& fields, const SnippetOptions& options)
      : highlighter_(std::move(highlighter)), fields_(fields), options_(options) {}

  std::vector<HitSnippet> make(const Said& said) {
    std::vector<HitSnippet> made;
    if (!said.title.empty()) made.push_back(whole("title", said.title));
    if (!said.text.empty()) made.push_back(best_part("text", said.text));
    return made;
  }

 private:
  std::size_t place(std::string_view field) const {
    const auto found = std::ranges::find(fields_.fields, field, &TextField::name);
    return static_cast<std::size_t>(found - fields_.fields.begin());
  }

  HitSnippet whole(std::string_view field, std::string_view text) {
    return {.field = std::string(field),
            .part = std::string(text),
            .marks = highlighter_.marks(place(field), text)};
  }

  HitSnippet best_part(std::string_view field, std::string_view text) {
    Snippet found = highlighter_.snippet(place(field), text, options_.length);
    for (TextRange& mark : found.marks) {
      mark.begin -= found.part.begin;
      mark.end -= found.part.begin;
    }
    return {.field = std::string(field),
            .part = std::string(text.substr(found.part.begin, found.part.end - found.part.begin)),
            .begin = found.part.begin,
            .ends_field = found.part.end == text.size(),
            .marks = std::move(found.marks)};
  }

  Highlighter highlighter_;
  const TextOptions& fields_;
  const SnippetOptions& options_;
};

}  // namespace

Result<HitExplanation> explain(const ShardView& view, const ShardQuery& query, DocNumber number) {
  const auto plain = static_cast<std::uint32_t>(number);
  KIN_TRY(const auto rows, view.truth().document_rows(std::span(&number, 1)));
  if (!rows.front()) return Error{Code::kNotFound, fmt::format("there is no document {}", plain)};
  KIN_TRY(const ShardHits all, search_all(view, query));
  HitExplanation result;
  const auto hit = std::ranges::find(all.hits, number, &ShardHit::number);
  if (hit != all.hits.end()) {
    result.rank = static_cast<std::uint32_t>(hit - all.hits.begin() + 1);
    result.score = hit->score;
    result.legs = hit->legs;
    result.trace = hit->trace;
  }
  if (query.text) {
    KIN_TRY(const TextQuery text, text_query(*query.text, view.text().options()));
    result.text = view.text().explain(text, plain, {.statistics = query.statistics});
  }
  if (query.vector) {
    KIN_TRY(result.vector, nearness(view, query, plain));
  }
  return result;
}

Result<std::vector<std::vector<HitSnippet>>> snippets(const ShardView& view,
                                                      const ShardQuery& query,
                                                      std::span<const DocNumber> numbers,
                                                      const SnippetOptions& options) {
  KIN_TRY(const TextQuery text, shown_query(view, query));
  const TextOptions& fields = view.text().options();
  KIN_TRY(Highlighter highlighter, Highlighter::create(text, fields));
  SnippetMaker maker(std::move(highlighter), fields, options);
  std::vector<std::vector<HitSnippet>> all;
  for (const DocNumber number : numbers) {
    KIN_TRY(const auto document,
            view.truth().document(number, {.vectors = false, .summaries = false}));
    all.push_back(document ? maker.make(said(*document)) : std::vector<HitSnippet>());
  }
  return all;
}

}  // namespace kin::index
