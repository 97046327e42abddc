#include "search/serving/searcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "index/about.h"
#include "index/graph.h"
#include "index/present.h"
#include "search/linked_document.h"

namespace kin::search {
namespace {

using index::ShardView;

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
    std::optional<index::TextExplanation> words;
    if (found_.by_words)
      words = index::explain_text(view_, found_.words, document, found_.statistics);
    return reason_of(found.legs, words ? &*words : nullptr);
  }

  const ShardView& view_;
  const Found& found_;
  Keys keys_;
};

}  // namespace

std::string key_of(const ShardView& view, const DocId& id) {
  const auto entity = view.truth().get(id, {.vectors = false, .summaries = false});
  return entity && *entity ? (*entity)->entity.key : to_string(id);
}

namespace {

// One shard.
class SearchedView final : public Searched {
 public:
  explicit SearchedView(const ShardView& view) : view_(view) {}
  bool has_spaces() const override { return !view_.spaces().empty(); }
  Result<SearchedSpace> space(const std::string& name) const override {
    KIN_TRY(const index::SpaceView* space, view_.space(name));
    return SearchedSpace{
        .name = space->name, .dimension = space->index->space().dimension, .source = space->source};
  }
  Result<std::vector<bool>> exist(std::span<const DocId> ids) const override {
    KIN_TRY(const auto heads, view_.truth().heads(ids));
    std::vector<bool> there;
    for (const auto& head : heads) there.push_back(head.has_value());
    return there;
  }
  Result<index::ShardHits> search(const index::ShardQuery& query, const Showing*) const override {
    return index::search(view_, query);
  }
  Result<index::ShardHits> run(std::span<const index::Stage> stages,
                               const Showing*) const override {
    return index::run_pipeline(view_, stages);
  }

 private:
  const ShardView& view_;
};

}  // namespace

Result<Found> find(const ShardView& view, const SearchSettings& settings,
                   const Question& question) {
  return find(SearchedView(view), settings, question);
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

Result<Document> with_links(const ShardView& view, const index::StoredEntity& entity,
                            std::optional<index::Millis> as_of) {
  KIN_TRY(const index::About about, index::read_about(view.truth(), entity, as_of));
  Keys keys(view);
  return linked_document(about, [&](const DocId& id) { return keys.of(id); });
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
