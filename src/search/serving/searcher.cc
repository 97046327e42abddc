#include "search/serving/searcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "index/explain.h"
#include "index/graph.h"
#include "index/text_query_legs.h"

namespace kin::search {
namespace {

using index::ShardView;

constexpr std::size_t kSnippetBytes = 240;

index::Millis now() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

index::TextLeg text_leg(const Question& question) {
  using Syntax = index::TextLeg::Syntax;
  return {.query = question.text,
          .syntax = question.plain ? Syntax::kPlain : Syntax::kLanguage,
          .fuzzy = question.fuzzy};
}

bool has_vectors(const ShardView& view, const Question& question) {
  const auto space = view.space(question.space);
  return space && ((*space)->source != nullptr || !question.vector.empty());
}

// Words alone can have a meaning: "*", "tag:sea" and "-lakes" have none.
bool has_meaning(const SearchSettings& settings, const Question& question) {
  if (!question.vector.empty()) return true;
  const auto words = index::words_of(text_leg(question), settings.text);
  return !words || !words->empty();  // what cannot be read is refused where it is searched by
}

Mode mode_of(const ShardView& view, const SearchSettings& settings, const Question& question) {
  const Mode mode = question.mode;
  if (mode == Mode::kHybrid && !question.text.empty())
    return has_meaning(settings, question) ? Mode::kHybrid : Mode::kText;
  if (mode != Mode::kBest) return mode;
  if (!question.from.empty()) return Mode::kGraph;
  if (question.text.empty()) return question.vector.empty() ? Mode::kText : Mode::kVector;
  return has_vectors(view, question) && has_meaning(settings, question) ? Mode::kHybrid
                                                                        : Mode::kText;
}

Status check_space(const ShardView& view, const Question& question) {
  if (view.spaces().empty())
    return Error{Code::kFailedPrecondition,
                 "the index has no vectors, or has not learnt any yet: search it by \"text\" or "
                 "\"graph\""};
  KIN_TRY(const index::SpaceView* space, view.space(question.space));
  const std::uint32_t dimension = space->index->space().dimension;
  if (question.vector.empty() || question.vector.size() == dimension) return Done{};
  return Error{Code::kInvalidArgument,
               fmt::format("the vector has {} numbers, and those of the space \"{}\" have {}",
                           question.vector.size(), space->name, dimension)};
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
    KIN_RETURN_IF_ERROR(check_space(view, question));
    query.vector = index::VectorLeg{
        .space = question.space, .vector = question.vector, .exact = question.exact};
    if (question.vector.empty() && !query.text) {
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
      auto query = query_of(view, settings, stage.find, mode_of(view, settings, stage.find));
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

MarkedText marked(const index::HitSnippet& snippet) {
  MarkedText parts;
  const std::string_view text = snippet.part;
  const auto add = [&](std::size_t from, std::size_t to, bool mark) {
    if (from < to) parts.push_back({std::string(text.substr(from, to - from)), mark});
  };
  if (snippet.begin > 0) parts.push_back({"… ", false});
  std::size_t at = 0;
  for (const index::TextRange& range : snippet.marks) {
    add(at, range.begin, false);
    add(range.begin, range.end, true);
    at = range.end;
  }
  add(at, text.size(), false);
  if (!snippet.ends_field) parts.push_back({" …", false});
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

// What was found, and the query whose words show in it.
struct Found {
  index::ShardHits hits = {};
  index::ShardQuery words = {};
};

// Makes hits ready to be shown. One thread only.
class Presenter {
 public:
  Presenter(const ShardView& view, const Found& found) : view_(view), found_(found), keys_(view) {}

  Result<std::vector<AnswerHit>> all(const Question& question) {
    std::vector<index::DocNumber> numbers;
    for (const index::ShardHit& hit : found_.hits.hits) numbers.push_back(hit.number);
    std::vector<std::vector<index::HitSnippet>> snippets(numbers.size());
    if (question.show) {
      KIN_TRY(snippets, index::snippets(view_, found_.words, numbers, {.length = kSnippetBytes}));
    }
    if (question.explain && found_.words.text) {
      KIN_TRY(query_, index::text_query(*found_.words.text, view_.text().options()));
    }
    std::vector<AnswerHit> hits;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      KIN_TRY(auto hit, present(found_.hits.hits[i], snippets[i]));
      if (question.explain) hit.why = reason(found_.hits.hits[i]);
      hits.push_back(std::move(hit));
    }
    return hits;
  }

 private:
  Result<AnswerHit> present(const index::ShardHit& found,
                            const std::vector<index::HitSnippet>& snippets) {
    AnswerHit hit{.kind = found.kind, .score = found.score, .legs = found.legs};
    KIN_RETURN_IF_ERROR(fill(hit, found));
    for (const index::HitSnippet& snippet : snippets)
      (snippet.field == "title" ? hit.title : hit.snippet) = marked(snippet);
    if (hit.title.empty() && !hit.document.title.empty()) hit.title = {{hit.document.title, false}};
    if (!found.trace) return hit;
    hit.trace = AnswerTrace{.by = keys_.of(found.trace->by), .hops = found.trace->hops};
    for (const index::GraphEdge& edge : found.trace->edges)
      hit.trace->edges.push_back(keys_.edge(edge));
    return hit;
  }

  Status fill(AnswerHit& hit, const index::ShardHit& found) {
    KIN_TRY(const auto entity, view_.truth().get(found.id, {.vectors = false, .summaries = false}));
    hit.document = entity ? document_of(entity->entity) : Document{.id = keys_.of(found.id)};
    hit.document.text.clear();
    if (found.kind != index::DocKind::kEdge && found.kind != index::DocKind::kEdgeFragment)
      return Done{};
    KIN_TRY(const auto document, view_.truth().document(found.number));
    if (!document) return Done{};
    const auto* edge = std::get_if<index::StoredEdge>(&*document);
    const index::EdgeId& id =
        edge != nullptr ? edge->edge.id : std::get<index::EdgeFragmentRef>(*document).edge;
    hit.name = id.name;
    hit.to = keys_.of(id.to);
    return Done{};
  }

  AnswerReason reason(const index::ShardHit& found) const {
    AnswerReason why;
    for (const index::LegScore& leg : found.legs)
      if (leg.leg == index::LegKind::kVector) why.similarity = leg.score;
    if (!query_) return why;
    const auto text = view_.text().explain(*query_, static_cast<std::uint32_t>(found.number));
    if (!text) return why;
    for (const index::TermExplanation& term : text->terms)
      why.terms.push_back({term.term, term.score, term.frequency, term.documents});
    return why;
  }

  const ShardView& view_;
  const Found& found_;
  Keys keys_;
  std::optional<index::TextQuery> query_;
};

// The last stage that asks for words has those that show.
Result<Found> run_stages(const ShardView& view, const SearchSettings& settings,
                         const Question& question) {
  KIN_TRY(const std::vector<index::Stage> stages, stages_of(view, settings, question));
  Found found;
  for (const index::Stage& stage : stages) {
    const auto* find = std::get_if<index::FindStage>(&stage);
    if (find != nullptr && (find->query.text || find->query.vector)) found.words = find->query;
  }
  KIN_TRY(found.hits, index::run_pipeline(view, stages));
  return found;
}

Result<Found> find(const ShardView& view, const SearchSettings& settings, const Question& question,
                   Mode mode) {
  if (!question.pipeline.empty()) return run_stages(view, settings, question);
  Found found;
  KIN_TRY(found.words, query_of(view, settings, question, mode));
  KIN_TRY(found.hits, index::search(view, found.words));
  return found;
}

}  // namespace

double alpha_for(embed::EmbedderKind kind) {
  using embed::EmbedderKind;
  if (kind == EmbedderKind::kHttp || kind == EmbedderKind::kGiven) return 0.5;
  return kind == EmbedderKind::kModel2Vec ? 0.4 : 0.2;
}

std::string key_of(const ShardView& view, const DocId& id) {
  const auto entity = view.truth().get(id, {.vectors = false, .summaries = false});
  return entity && *entity ? (*entity)->entity.key : to_string(id);
}

Result<Answer> answer(const ShardView& view, const SearchSettings& settings,
                      const Question& question) {
  const auto start = std::chrono::steady_clock::now();
  const Mode mode = mode_of(view, settings, question);
  KIN_TRY(Found found, find(view, settings, question, mode));
  Answer answer{.count = found.hits.count,
                .facets = std::move(found.hits.facets),
                .mode = question.pipeline.empty() ? std::string(name_of(mode)) : "pipeline"};
  KIN_TRY(answer.hits, Presenter(view, found).all(question));
  const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - start;
  answer.milliseconds = taken.count();
  return answer;
}

Result<Document> with_links(const ShardView& view, const index::Entity& entity,
                            std::optional<index::Millis> as_of) {
  Document document = document_of(entity);
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

namespace {

// A walk ends at its outermost nodes; the edges between these belong to the picture too.
Status add_outer_edges(const ShardView& view, const NeighboursQuestion& question,
                       index::Traversal& walk) {
  std::unordered_set<DocId> nodes;
  for (const index::Reached& node : walk.nodes) nodes.insert(node.id);
  std::set<index::EdgeId> known;
  for (const index::GraphEdge& edge : walk.edges) known.insert(edge.id);
  for (const index::Reached& node : walk.nodes) {
    if (node.hops < question.hops) continue;
    KIN_TRY(const auto edges,
            index::edges(view.truth(), {.node = node.id, .filter = {.as_of = question.as_of}}));
    for (const index::GraphEdge& edge : edges)
      if (nodes.contains(edge.id.to) && known.insert(edge.id).second) walk.edges.push_back(edge);
  }
  return Done{};
}

}  // namespace

Result<Neighbours> neighbours(const ShardView& view, const NeighboursQuestion& question) {
  const DocId start = doc_id(question.id);
  KIN_TRY(const auto there,
          view.truth().get(start, {.vectors = false, .summaries = false, .as_of = question.as_of}));
  if (!there)
    return Error{Code::kNotFound, fmt::format("there is no document \"{}\"", question.id)};
  KIN_TRY(index::Traversal walk,
          index::traverse(view.truth(), {.from = {start},
                                         .direction = index::Direction::kBoth,
                                         .filter = {.as_of = question.as_of},
                                         .hops = question.hops,
                                         .missing = index::Missing::kVisit,
                                         .max_nodes = question.limit}));
  KIN_RETURN_IF_ERROR(add_outer_edges(view, question, walk));
  std::vector<DocId> ids;
  for (const index::Reached& node : walk.nodes) ids.push_back(node.id);
  KIN_TRY(const auto entities, view.truth().get_many(ids, {.vectors = false, .summaries = false}));
  Neighbours found{.complete = walk.complete};
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto& entity = entities[i];
    found.nodes.push_back({.id = entity ? entity->entity.key : to_string(ids[i]),
                           .title = entity ? entity->entity.title : "",
                           .hops = walk.nodes[i].hops,
                           .missing = !entity});
  }
  Keys keys(view);
  for (const index::GraphEdge& edge : walk.edges) found.edges.push_back(keys.edge(edge));
  return found;
}

}  // namespace kin::search
