#include "index/present.h"

#include <algorithm>

#include "index/shard/documents.h"

namespace kin::index {
namespace {

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
  std::size_t index_of(std::string_view field) const {
    const auto found = std::ranges::find(fields_.fields, field, &TextField::name);
    return static_cast<std::size_t>(found - fields_.fields.begin());
  }

  HitSnippet whole(std::string_view field, std::string_view text) {
    return {.field = std::string(field),
            .part = std::string(text),
            .marks = highlighter_.marks(index_of(field), text)};
  }

  HitSnippet best_part(std::string_view field, std::string_view text) {
    Snippet found = highlighter_.snippet(index_of(field), text, options_.length);
    // From places in the field to places in the part.
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

Result<std::vector<std::vector<HitSnippet>>> make_snippets(
    const TextOptions& fields, const TextQuery& query,
    std::span<const std::optional<StoredDocument>> documents, const SnippetOptions& options) {
  KIN_TRY(Highlighter highlighter, Highlighter::create(query, fields));
  SnippetMaker maker(std::move(highlighter), fields, options);
  std::vector<std::vector<HitSnippet>> all;
  for (const auto& document : documents)
    all.push_back(document ? maker.make(said(*document)) : std::vector<HitSnippet>());
  return all;
}

std::optional<TextExplanation> explain_text(const ShardView& view, const TextQuery& query,
                                            const StoredDocument& document,
                                            const TextStatistics* statistics) {
  return view.text().explain(query, number_of(document), {.statistics = statistics});
}

}  // namespace kin::index
