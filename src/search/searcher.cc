#include "search/searcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <unordered_map>

#include "index/graph.h"
#include "index/shard_text.h"
#include "index/text_snippet.h"

namespace kin::search {
namespace {

using index::DocId;
using index::ShardView;

constexpr std::size_t kSnippetBytes = 240;
constexpr std::size_t kTitleField = 0;
constexpr std::size_t kTextField = 1;

index::Millis now() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

bool has_vectors(const ShardView& view, const Question& question) {
  const auto space = view.space(question.space);
  return space && ((*space)->source != nullptr || !question.vector.empty());
}

Mode mode_of(const ShardView& view, const Question& question) {
  if (question.mode != Mode::kBest) return question.mode;
  if (!question.from.empty()) return Mode::kGraph;
  if (question.text.empty()) return question.vector.empty() ? Mode::kText : Mode::kVector;
  return has_vectors(view, question) ? Mode::kHybrid : Mode::kText;
}

index::TextLeg text_leg(const Question& question) {
  using Syntax = index::TextLeg::Syntax;
  return {.query = question.text,
          .syntax = question.plain ? Syntax::kPlain : Syntax::kLanguage,
          .fuzzy = question.fuzzy};
}

std::vector<DocId> starts_of(const Question& question) {
  std::vector<DocId> from;
  for (const std::string& id : question.from) from.push_back(doc_id(id));
  if (from.empty() && !question.text.empty()) from.push_back(doc_id(question.text));
  return from;
}

Status check_starts(const ShardView& view, const Question& question) {
  const std::vector<DocId> from = starts_of(question);
  KIN_TRY(const auto heads, view.truth().heads(from));
  for (std::size_t i = 0; i < heads.size(); ++i)
    if (!heads[i])
      return Error{Code::kNotFound,
                   fmt::format("there is no document \"{}\" to begin at",
                               question.from.empty() ? question.text : question.from[i])};
  return Done{};
}

Result<index::ShardQuery> query_of(const ShardView& view, const SearchSettings& settings,
                                   const Question& question, Mode mode) {
  index::ShardQuery query{
      .scope = question.scope,
      .fusion = {.how = question.fusion, .alpha = question.alpha.value_or(settings.alpha)},
      .expand = question.expand,
      .k = question.k,
      .offset = question.offset,
      .facets = question.facets,
      .validity_at = question.scope.as_of.value_or(now())};
  query.expand.edges.as_of = question.scope.as_of;
  if (mode == Mode::kGraph) {
    KIN_RETURN_IF_ERROR(check_starts(view, question));
    query.graph = index::GraphStart{.from = starts_of(question)};
    return query;
  }
  const bool asks_words = mode == Mode::kText || mode == Mode::kHybrid;
  if (asks_words && !question.text.empty()) query.text = text_leg(question);
  if (mode == Mode::kVector || mode == Mode::kHybrid) {
    query.vector = index::VectorLeg{
        .space = question.space, .vector = question.vector, .exact = question.exact};
    if (question.vector.empty()) {
      KIN_TRY(query.vector->text, index::words_of(text_leg(question), settings.text));
    }
  }
  query.count = question.count && !query.graph && (query.text || !query.vector);
  return query;
}

Result<std::vector<index::Stage>> stages_of(const ShardView& view, const SearchSettings& settings,
                                            const Question& question) {
  std::vector<index::Stage> stages;
  for (const StageQuestion& stage : question.pipeline) {
    if (stage.kind == StageQuestion::Kind::kFind) {
      auto query = query_of(view, settings, stage.find, mode_of(view, stage.find));
      if (!query)
        return with_context(fmt::format("stage {} of the pipeline", stages.size() + 1),
                            query.error());
      stages.emplace_back(index::FindStage{.query = std::move(*query), .keep = stage.keep});
    } else if (stage.kind == StageQuestion::Kind::kExpand) {
      stages.emplace_back(index::ExpandStage{.expand = stage.expand});
    } else if (stage.kind == StageQuestion::Kind::kFilter) {
      stages.emplace_back(index::FilterStage{.scope = stage.filter});
    } else {
      stages.emplace_back(index::LimitStage{.k = stage.limit});
    }
  }
  return stages;
}

// The words that are marked in what is found: those of the last question that has any.
const Question* asked_words(const Question& question) {
  if (question.pipeline.empty()) return question.text.empty() ? nullptr : &question;
  for (auto stage = question.pipeline.rbegin(); stage != question.pipeline.rend(); ++stage)
    if (stage->kind == StageQuestion::Kind::kFind && !stage->find.text.empty()) return &stage->find;
  return nullptr;
}

MarkedText marked(std::string_view text, index::TextRange part,
                  const std::vector<index::TextRange>& marks) {
  MarkedText parts;
  const auto add = [&](std::size_t from, std::size_t to, bool mark) {
    if (from < to) parts.push_back({std::string(text.substr(from, to - from)), mark});
  };
  if (part.begin > 0) parts.push_back({"… ", false});
  std::size_t at = part.begin;
  for (const index::TextRange& range : marks) {
    add(at, range.begin, false);
    add(range.begin, range.end, true);
    at = range.end;
  }
  add(at, part.end, false);
  if (part.end < text.size()) parts.push_back({" …", false});
  return parts;
}

// Names of documents, each looked up once.
class Keys {
 public:
  explicit Keys(const ShardView& view) : view_(view) {}
  const std::string& of(const DocId& id) {
    const auto [at, fresh] = known_.try_emplace(id);
    if (fresh) at->second = key_of(view_, id);
    return at->second;
  }
  AnswerEdge edge(const index::GraphEdge& edge) {
    return {of(edge.id.from), of(edge.id.to), edge.id.name, edge.weight};
  }

 private:
  const ShardView& view_;
  std::unordered_map<DocId, std::string> known_;
};

// Makes hits ready to be shown. One thread only.
class Presenter {
 public:
  static Result<Presenter> create(const ShardView& view, const SearchSettings& settings,
                                  const Question& question) {
    Presenter presenter(view, question.explain);
    const Question* words = asked_words(question);
    if (words == nullptr || mode_of(view, *words) == Mode::kGraph) return presenter;
    KIN_TRY(presenter.query_, index::text_query(text_leg(*words), settings.text));
    KIN_TRY(presenter.highlighter_, index::Highlighter::create(presenter.query_, settings.text));
    return presenter;
  }

  Result<std::optional<AnswerHit>> present(const index::ShardHit& found) {
    KIN_TRY(const auto document,
            view_->truth().document(found.number, {.vectors = false, .summaries = false}));
    if (!document) return std::optional<AnswerHit>();
    AnswerHit hit{.kind = found.kind, .score = found.score, .legs = found.legs};
    KIN_TRY(const std::string text, fill(hit, *document));
    highlight(hit, text);
    if (found.trace) {
      hit.trace = AnswerTrace{.by = keys_.of(found.trace->by), .hops = found.trace->hops};
      for (const index::GraphEdge& edge : found.trace->edges)
        hit.trace->edges.push_back(keys_.edge(edge));
    }
    if (explain_) hit.why = reason(found);
    return std::optional(std::move(hit));
  }

 private:
  Presenter(const ShardView& view, bool explain) : view_(&view), explain_(explain), keys_(view) {}

  // The text that the document consists of.
  Result<std::string> fill(AnswerHit& hit, const index::Document& document) {
    if (const auto* entity = std::get_if<index::StoredEntity>(&document)) {
      hit.document = document_of(entity->entity);
      return std::exchange(hit.document.text, {});
    }
    if (const auto* edge = std::get_if<index::StoredEdge>(&document)) {
      KIN_RETURN_IF_ERROR(fill_ends(hit, edge->edge.id));
      return edge->edge.summary;
    }
    if (const auto* said = std::get_if<index::EntityFragmentRef>(&document)) {
      KIN_RETURN_IF_ERROR(fill_entity(hit, said->id));
      return said->fragment.fragment.text;
    }
    const auto& said = std::get<index::EdgeFragmentRef>(document);
    KIN_RETURN_IF_ERROR(fill_ends(hit, said.edge));
    return said.fragment.fragment.text;
  }

  Status fill_entity(AnswerHit& hit, const DocId& id) {
    KIN_TRY(const auto entity, view_->truth().get(id, {.vectors = false, .summaries = false}));
    hit.document = entity ? document_of(entity->entity) : Document{.id = keys_.of(id)};
    hit.document.text.clear();
    return Done{};
  }

  Status fill_ends(AnswerHit& hit, const index::EdgeId& edge) {
    hit.name = edge.name;
    hit.to = keys_.of(edge.to);
    return fill_entity(hit, edge.from);
  }

  void highlight(AnswerHit& hit, const std::string& text) {
    const std::string& title = hit.document.title;
    const auto whole = [](std::string_view of) {
      return index::TextRange{0, static_cast<std::uint32_t>(of.size())};
    };
    if (!highlighter_) {
      hit.title = marked(title, whole(title), {});
      hit.snippet = marked(text, beginning(text), {});
      return;
    }
    hit.title = marked(title, whole(title), highlighter_->marks(kTitleField, title));
    const index::Snippet best = highlighter_->snippet(kTextField, text, kSnippetBytes);
    hit.snippet = marked(text, best.part, best.marks);
  }

  // As much of the text as a snippet has, up to the end of a character.
  static index::TextRange beginning(std::string_view text) {
    std::size_t end = std::min(text.size(), kSnippetBytes);
    while (end > 0 && end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80)
      --end;
    return {0, static_cast<std::uint32_t>(end)};
  }

  AnswerReason reason(const index::ShardHit& found) const {
    AnswerReason why;
    for (const index::LegScore& leg : found.legs)
      if (leg.leg == index::LegKind::kVector) why.similarity = leg.score;
    if (!highlighter_) return why;
    const auto text = view_->text().explain(query_, static_cast<std::uint32_t>(found.number));
    if (!text) return why;
    for (const index::TermExplanation& term : text->terms)
      why.terms.push_back({term.term, term.score, term.frequency, term.documents});
    return why;
  }

  const ShardView* view_;
  bool explain_;
  Keys keys_;
  index::TextQuery query_;
  std::optional<index::Highlighter> highlighter_;
};

Result<index::ShardHits> find(const ShardView& view, const SearchSettings& settings,
                              const Question& question, Mode mode) {
  if (!question.pipeline.empty()) {
    KIN_TRY(const std::vector<index::Stage> stages, stages_of(view, settings, question));
    return index::run_pipeline(view, stages);
  }
  KIN_TRY(const index::ShardQuery query, query_of(view, settings, question, mode));
  return index::search(view, query);
}

}  // namespace

double alpha_for(const std::string& embed) {
  if (embed.starts_with("words")) return 0.1;
  if (embed.starts_with("http:") || embed == "given") return 0.5;
  return 0.3;
}

std::string key_of(const ShardView& view, const DocId& id) {
  const auto entity = view.truth().get(id, {.vectors = false, .summaries = false});
  return entity && *entity ? (*entity)->entity.key : index::to_string(id);
}

Result<Answer> answer(const ShardView& view, const SearchSettings& settings,
                      const Question& question) {
  const auto start = std::chrono::steady_clock::now();
  const Mode mode = mode_of(view, question);
  KIN_TRY(index::ShardHits found, find(view, settings, question, mode));
  KIN_TRY(Presenter presenter, Presenter::create(view, settings, question));
  Answer answer{.count = found.count,
                .facets = std::move(found.facets),
                .mode = question.pipeline.empty() ? std::string(name_of(mode)) : "pipeline"};
  for (const index::ShardHit& hit : found.hits) {
    KIN_TRY(auto shown, presenter.present(hit));
    if (shown) answer.hits.push_back(std::move(*shown));
  }
  const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - start;
  answer.milliseconds = taken.count();
  return answer;
}

Result<Document> with_links(const ShardView& view, const index::Entity& entity,
                            std::optional<index::Millis> as_of) {
  Document document = document_of(entity);
  document.embeddings = entity.vectors;
  KIN_TRY(const auto edges,
          index::edges(view.truth(),
                       {.node = entity.id, .filter = {.as_of = as_of}, .limit = 1'000'000}));
  std::vector<Link> links;
  Keys keys(view);
  for (const index::GraphEdge& edge : edges)
    links.push_back({.to = keys.of(edge.id.to),
                     .name = edge.id.name,
                     .weight = edge.weight,
                     .valid = {edge.id.since, edge.until}});
  if (!links.empty()) document.links = std::move(links);
  return document;
}

Result<Neighbours> neighbours(const ShardView& view, const NeighboursQuestion& question) {
  const DocId start = doc_id(question.id);
  KIN_TRY(const auto there,
          view.truth().get(start, {.vectors = false, .summaries = false, .as_of = question.as_of}));
  if (!there)
    return Error{Code::kNotFound, fmt::format("there is no document \"{}\"", question.id)};
  KIN_TRY(const index::Traversal walk,
          index::traverse(view.truth(), {.from = {start},
                                         .direction = index::Direction::kBoth,
                                         .filter = {.as_of = question.as_of},
                                         .hops = question.hops,
                                         .missing = index::Missing::kVisit,
                                         .max_nodes = question.limit}));
  std::vector<DocId> ids;
  for (const index::Reached& node : walk.nodes) ids.push_back(node.id);
  KIN_TRY(const auto entities, view.truth().get_many(ids, {.vectors = false, .summaries = false}));
  Neighbours found{.complete = walk.complete};
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto& entity = entities[i];
    found.nodes.push_back({.id = entity ? entity->entity.key : index::to_string(ids[i]),
                           .title = entity ? entity->entity.title : "",
                           .hops = walk.nodes[i].hops,
                           .missing = !entity});
  }
  Keys keys(view);
  for (const index::GraphEdge& edge : walk.edges) found.edges.push_back(keys.edge(edge));
  return found;
}

}  // namespace kin::search
