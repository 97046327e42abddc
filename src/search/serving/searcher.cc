#include "search/serving/searcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "index/graph.h"
#include "index/present.h"
#include "index/text_leg.h"
#include "text/stop_words.h"

namespace kin::search {
namespace {

using index::ShardView;

constexpr std::size_t kSnippetBytes = 240;

index::TextLeg text_leg(const Question& question) {
  using Syntax = index::TextLeg::Syntax;
  return {.query = question.text,
          .syntax = question.plain ? Syntax::kPlain : Syntax::kLanguage,
          .fuzzy = question.fuzzy};
}

// The query without words such as "the". Words that must be there, phrases and patterns stay.
index::TextQuery without_common(index::TextQuery query, const std::string& language) {
  using Kind = index::TextQuery::Kind;
  if (query.kind == Kind::kWords) query.text = text::without_stop_words(query.text, language);
  if (query.kind != Kind::kBoolean) return query;
  std::vector<index::TextQuery> kept;
  for (index::TextQuery& part : query.should) {
    part = without_common(std::move(part), language);
    if (part.kind != Kind::kWords || !part.text.empty()) kept.push_back(std::move(part));
  }
  query.should = std::move(kept);
  return query;
}

bool is_empty(const index::TextQuery& query) {
  using Kind = index::TextQuery::Kind;
  if (query.kind == Kind::kWords) return query.text.empty();
  return query.kind == Kind::kBoolean && query.must.empty() && query.must_not.empty() &&
         std::ranges::all_of(query.should, is_empty);
}

// True if the question has words, but only common ones such as "the".
bool is_common(const SearchSettings& settings, const Question& question) {
  if (question.text.empty() || !question.vector.empty()) return false;
  index::TextLeg leg = text_leg(question);
  leg.fuzzy = 0;
  const auto query = index::parse_leg(leg, settings.text);
  // Syntax errors are reported by the search itself.
  if (!query || is_empty(*query)) return false;
  return is_empty(without_common(*query, settings.text.language));
}

bool has_vectors(const ShardView& view, const Question& question) {
  const auto space = view.space(question.space);
  return space && ((*space)->source != nullptr || !question.vector.empty());
}

// Whether a vector can be made: "*", "tag:sea" and "-lakes" have no words for it.
bool has_meaning(const SearchSettings& settings, const Question& question) {
  if (!question.vector.empty()) return true;
  const auto words = index::extract_words(text_leg(question), settings.text);
  return !words || !words->empty();  // syntax errors are reported by the search itself
}

Mode mode_of(const ShardView& view, const SearchSettings& settings, const Question& question) {
  const Mode mode = question.mode;
  // A question without words to make a vector of is answered by its filters and patterns alone.
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
  // A start that does not exist would find nothing without saying why.
  for (std::size_t i = 0; i < heads.size(); ++i)
    if (!heads[i])
      return Error{Code::kNotFound,
                   fmt::format("there is no document \"{}\" to begin at",
                               question.from.empty() ? question.text : question.from[i])};
  return Done{};
}

// The vector to search by, made once for all shards and legs. Empty if the words have none in the
// space.
Result<std::vector<float>> make_vector(const ShardView& view, const Question& question,
                                       const std::string& words) {
  KIN_TRY(const index::SpaceView* space, view.space(question.space));
  if (space->source == nullptr)
    return Error{Code::kFailedPrecondition,
                 fmt::format("the space \"{}\" has no embedder for texts: search it by a vector",
                             space->name)};
  if (words.empty())
    return Error{Code::kInvalidArgument, "a search by vector needs a vector or words"};
  KIN_TRY(std::vector<float> vector, space->source->query(words));
  // A vector of zeros has no direction. Without a vector the leg finds nothing.
  if (std::ranges::all_of(vector, [](float value) { return value == 0; })) vector.clear();
  return vector;
}

// A question as a query, and the words to mark in its hits.
struct ReadyQuery {
  index::ShardQuery query = {};
  index::TextQuery words = {};
  index::TextQuery marks = {};  // `words` without common ones
};

Result<ReadyQuery> make_query(const ShardView& view, const SearchSettings& settings,
                              const Question& question, Mode mode) {
  // The moment of the facet "validity": for a question about the past, that moment.
  const index::Millis now = settings.clock->now().time_since_epoch().count();
  ReadyQuery ready{.query = {.scope = question.scope,
                             .fusion = {.how = question.fusion,
                                        .alpha = question.alpha.value_or(settings.alpha)},
                             .expand = question.expand,
                             .k = question.k,
                             .offset = question.offset,
                             .facets = question.facets,
                             .validity_at = question.scope.as_of.value_or(now)}};
  index::ShardQuery& query = ready.query;
  query.expand.edges.as_of = question.scope.as_of;
  if (mode == Mode::kGraph) {
    KIN_RETURN_IF_ERROR(check_starts(view, question));
    query.graph = index::GraphStart{.from = starts_of(question)};
    return ready;
  }
  const index::TextLeg words = text_leg(question);
  const bool asks_words = mode == Mode::kText || mode == Mode::kHybrid;
  if (asks_words && !question.text.empty()) {
    query.text = words;
    KIN_TRY(ready.words, index::parse_leg(words, settings.text));
  }
  if (mode == Mode::kVector || mode == Mode::kHybrid) {
    KIN_RETURN_IF_ERROR(check_space(view, question));
    query.vector = index::VectorLeg{
        .space = question.space, .vector = question.vector, .exact = question.exact};
    if (question.vector.empty()) {
      KIN_TRY(const std::string meant, index::extract_words(words, settings.text));
      KIN_TRY(query.vector->vector, make_vector(view, question, meant));
      // Words that were not searched for are marked in the hits all the same.
      if (!query.text) ready.words = index::plain_query(meant);
    }
  }
  ready.marks = without_common(ready.words, settings.text.language);
  // A vector leg alone ranks all documents, so there is nothing to count.
  query.count = question.count && (query.text || !query.vector);
  return ready;
}

// A pipeline as stages. The words of the last stage that has any are marked.
struct ReadyStages {
  std::vector<index::Stage> stages = {};
  index::TextQuery words = {};
  index::TextQuery marks = {};
  bool by_words = false;
};

Result<ReadyStages> make_stages(const ShardView& view, const SearchSettings& settings,
                                const Question& question) {
  ReadyStages ready;
  for (const StageQuestion& stage : question.pipeline) {
    if (stage.kind == StageQuestion::Kind::kFind) {
      auto made = make_query(view, settings, stage.find, mode_of(view, settings, stage.find));
      if (!made)
        return with_context(fmt::format("stage {} of the pipeline", ready.stages.size() + 1),
                            made.error());
      // Stages by links and filters keep the words of the stage before.
      if (made->query.text || made->query.vector) {
        ready.words = std::move(made->words);
        ready.marks = std::move(made->marks);
        ready.by_words = made->query.text.has_value();
      }
      ready.stages.emplace_back(
          index::FindStage{.query = std::move(made->query), .keep = stage.keep});
    } else if (stage.kind == StageQuestion::Kind::kExpand) {
      ready.stages.emplace_back(index::ExpandStage{.expand = stage.expand});
    } else if (stage.kind == StageQuestion::Kind::kFilter) {
      ready.stages.emplace_back(index::FilterStage{.scope = stage.filter});
    } else {
      ready.stages.emplace_back(index::LimitStage{.k = stage.limit});
    }
  }
  return ready;
}

MarkedText marked(const index::HitSnippet& snippet) {
  MarkedText parts;
  const std::string_view text = snippet.part;
  const auto add = [&](std::size_t from, std::size_t to, bool mark) {
    if (from < to) parts.push_back({std::string(text.substr(from, to - from)), mark});
  };
  // An ellipsis where the part begins or ends inside the field.
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

std::vector<index::Fragment> contents(const std::vector<index::StoredFragment>& stored) {
  std::vector<index::Fragment> fragments;
  for (const index::StoredFragment& one : stored) fragments.push_back(one.fragment);
  return fragments;
}

// Adds the fragments of a document and of its links, `edges`, which are in the order of `links`. A
// link with several periods has its fragments in the first.
Status add_fragments(const index::TruthView& truth, const DocId& id,
                     std::optional<index::Millis> as_of, const std::vector<index::GraphEdge>& edges,
                     Document& document, std::vector<Link>& links) {
  // Most indexes have none: this spares a look-up for each link.
  if (truth.counters().fragments == 0) return Done{};
  const index::FragmentRange range{.until = as_of ? *as_of + 1 : index::kForever,
                                   .limit = 1'000'000};
  KIN_TRY(const auto said, truth.fragments(id, range));
  document.fragments = contents(said);
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const bool again =
        i > 0 && edges[i - 1].id.name == edges[i].id.name && edges[i - 1].id.to == edges[i].id.to;
    if (again) continue;
    KIN_TRY(const auto about, truth.fragments(edges[i].id, range));
    links[i].fragments = contents(about);
  }
  return Done{};
}

// Makes hits ready to be shown. One thread only.
class Presenter {
 public:
  Presenter(const ShardView& view, const Found& found) : view_(view), found_(found), keys_(view) {}

  // Leaves out documents that were removed after they were found.
  Result<std::vector<AnswerHit>> all(const Question& question) {
    std::vector<index::DocIdentity> identities;
    for (const index::ShardHit& hit : found_.hits.hits) identities.push_back(hit.doc);
    KIN_TRY(const auto documents, index::read_documents(view_.truth(), identities));
    std::vector<std::vector<index::HitSnippet>> snippets(documents.size());
    if (question.show) {
      KIN_TRY(snippets, index::make_snippets(view_.text().options(), found_.marks, documents,
                                             {.length = kSnippetBytes}));
    }
    std::vector<AnswerHit> hits;
    for (std::size_t i = 0; i < documents.size(); ++i) {
      if (!documents[i]) continue;
      KIN_TRY(AnswerHit hit, present(found_.hits.hits[i], *documents[i], snippets[i]));
      if (question.explain) hit.why = reason(found_.hits.hits[i], *documents[i]);
      hits.push_back(std::move(hit));
    }
    return hits;
  }

 private:
  Result<AnswerHit> present(const index::ShardHit& found, const index::StoredDocument& document,
                            const std::vector<index::HitSnippet>& snippets) {
    AnswerHit hit{.kind = found.doc.kind, .score = found.score, .legs = found.legs};
    KIN_RETURN_IF_ERROR(fill(hit, found.doc, document));
    for (const index::HitSnippet& snippet : snippets)
      (snippet.field == "title" ? hit.title : hit.snippet) = marked(snippet);
    // Without snippets, and for edges and fragments, the title is that of the entity, unmarked.
    if (hit.title.empty() && !hit.document.title.empty()) hit.title = {{hit.document.title, false}};
    if (!found.trace) return hit;
    hit.trace = AnswerTrace{.by = keys_.of(found.trace->by), .hops = found.trace->hops};
    for (const index::GraphEdge& edge : found.trace->edges)
      hit.trace->edges.push_back(keys_.edge(edge));
    return hit;
  }

  // Edges and fragments are shown with the entity that they belong to.
  Status fill(AnswerHit& hit, const index::DocIdentity& identity,
              const index::StoredDocument& document) {
    if (const auto* stored = std::get_if<index::StoredEntity>(&document)) {
      hit.document = document_of(stored->entity);
    } else {
      KIN_TRY(const auto owner,
              view_.truth().get(identity.id, {.vectors = false, .summaries = false}));
      hit.document = owner ? document_of(owner->entity) : Document{.id = keys_.of(identity.id)};
    }
    hit.document.text.clear();  // answers have snippets instead
    if (identity.name.empty()) return Done{};
    hit.name = identity.name;
    hit.to = keys_.of(identity.to);
    return Done{};
  }

  AnswerReason reason(const index::ShardHit& found, const index::StoredDocument& document) const {
    AnswerReason why;
    for (const index::LegScore& leg : found.legs)
      if (leg.leg == index::LegKind::kVector) why.similarity = leg.score;
    if (!found_.by_words) return why;
    const auto text = index::explain_text(view_, found_.words, document, found_.statistics);
    if (!text) return why;
    for (const index::TermExplanation& term : text->terms)
      why.terms.push_back({term.term, term.score, term.frequency, term.documents});
    return why;
  }

  const ShardView& view_;
  const Found& found_;
  Keys keys_;
};

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

namespace {

// The answer to an empty question.
index::ShardHits nothing(const Question& question) {
  index::ShardHits none{.count = 0};
  for (const std::string& name : question.facets) none.facets.push_back({.name = name});
  return none;
}

// The query for its counts alone, which cover the matches of its words.
index::ShardQuery counting(index::ShardQuery query) {
  if (query.text) {
    query.vector.reset();
    query.expand = {};
  }
  query.k = 1;
  query.offset = 0;
  return query;
}

Status count_words(const ShardView& view, const index::ShardQuery& asked, index::ShardHits& hits) {
  KIN_TRY(index::ShardHits counted, index::search(view, counting(asked)));
  hits.count = counted.count;
  hits.facets = std::move(counted.facets);
  return Done{};
}

// A user who chooses another value of a filtered facet replaces the present one, so the counts of
// that facet ignore its own filter.
Status count_own_facets(const ShardView& view, const index::ShardQuery& asked,
                        index::ShardHits& hits) {
  for (index::FacetCounts& facet : hits.facets) {
    index::ShardQuery query = counting(asked);
    const auto removed = std::erase_if(query.scope.filters, [&](const index::Filter& filter) {
      return filter.name == facet.name;
    });
    if (removed == 0) continue;
    query.count = false;
    query.facets = {facet.name};
    KIN_TRY(index::ShardHits counted, index::search(view, query));
    facet = std::move(counted.facets.front());
  }
  return Done{};
}

}  // namespace

Result<Found> find(const ShardView& view, const SearchSettings& settings,
                   const Question& question) {
  if (!question.pipeline.empty()) {
    KIN_TRY(ReadyStages ready, make_stages(view, settings, question));
    KIN_TRY(index::ShardHits hits, index::run_pipeline(view, ready.stages));
    return Found{.hits = std::move(hits),
                 .words = std::move(ready.words),
                 .marks = std::move(ready.marks),
                 .by_words = ready.by_words,
                 .mode = "pipeline"};
  }
  const Mode mode = mode_of(view, settings, question);
  if (mode != Mode::kGraph && is_common(settings, question))
    return Found{.hits = nothing(question), .mode = std::string(name_of(mode))};
  KIN_TRY(ReadyQuery ready, make_query(view, settings, question, mode));
  const index::ShardQuery asked = ready.query;
  // Hits by meaning and links are open-ended, so they are not counted.
  if (asked.text) {
    ready.query.count = false;
    ready.query.facets.clear();
  }
  KIN_TRY(index::ShardHits hits, index::search(view, ready.query));
  if (asked.text && (asked.count || !asked.facets.empty()))
    KIN_RETURN_IF_ERROR(count_words(view, asked, hits));
  KIN_RETURN_IF_ERROR(count_own_facets(view, asked, hits));
  return Found{.hits = std::move(hits),
               .words = std::move(ready.words),
               .marks = std::move(ready.marks),
               .by_words = ready.query.text.has_value(),
               .mode = std::string(name_of(mode))};
}

Result<Answer> present(const ShardView& view, const Found& found, const Question& question) {
  Answer answer{.count = found.hits.count, .facets = found.hits.facets, .mode = found.mode};
  KIN_TRY(answer.hits, Presenter(view, found).all(question));
  return answer;
}

Result<Answer> answer(const ShardView& view, const SearchSettings& settings,
                      const Question& question) {
  const SteadyTime start = settings.clock->steady_now();
  KIN_TRY(const Found found, find(view, settings, question));
  KIN_TRY(Answer answer, present(view, found, question));
  const std::chrono::duration<double, std::milli> taken = settings.clock->steady_now() - start;
  answer.milliseconds = taken.count();
  return answer;
}

Result<Document> with_links(const ShardView& view, const index::Entity& entity,
                            std::optional<index::Millis> as_of) {
  Document document = document_of(entity);
  KIN_TRY(const auto edges,
          index::edges(view.truth(),
                       {.node = entity.id, .filter = {.as_of = as_of}, .limit = 1'000'000}));
  // Edges come without their summaries, which are read one by one.
  std::vector<Link> links;
  Keys keys(view);
  for (const index::GraphEdge& edge : edges) {
    links.push_back({.to = keys.of(edge.id.to),
                     .name = edge.id.name,
                     .weight = edge.weight,
                     .valid = {edge.id.since, edge.until}});
    KIN_TRY(const auto stored, view.truth().edge(edge.id));
    if (stored) links.back().summary = stored->edge.summary;
  }
  KIN_RETURN_IF_ERROR(add_fragments(view.truth(), entity.id, as_of, edges, document, links));
  if (!links.empty()) document.links = std::move(links);
  return document;
}

namespace {

// A walk ends at its outermost nodes; edges between those are added here.
Status add_outer_edges(const ShardView& view, const NeighboursQuestion& question,
                       index::Traversal& walk) {
  std::unordered_set<DocId> nodes;
  for (const index::Reached& node : walk.nodes) nodes.insert(node.id);
  std::set<index::EdgeId> known;
  for (const index::GraphEdge& edge : walk.edges) known.insert(edge.id);
  for (const index::Reached& node : walk.nodes) {
    if (node.hops < question.hops) continue;  // the walk has seen all edges of inner nodes
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
  // Documents that do not exist are shown too: a link leads to them.
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
