#include "server/routed/routed_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>

#include "index/mutation.h"
#include "search/asking.h"
#include "search/embedding.h"
#include "search/linked_document.h"

namespace kin::server {
namespace {

using index::Mutation;
using search::Answer;
using search::AnswerHit;
using search::Document;
using search::Question;

constexpr index::Want kContents{.vectors = false, .summaries = false};

// The documents behind a router, as one question searches them. One thread only.
class SearchedRouter final : public search::Searched {
 public:
  SearchedRouter(router::Router& router, std::span<const index::SpaceOptions> spaces,
                 std::shared_ptr<const index::VectorSource> source, router::Staleness* staleness)
      : router_(router), spaces_(spaces), source_(std::move(source)), staleness_(staleness) {}

  bool has_spaces() const override { return !spaces_.empty(); }
  Result<search::SearchedSpace> space(const std::string& name) const override {
    for (const index::SpaceOptions& one : spaces_) {
      if (name.empty() || one.name == name)
        return search::SearchedSpace{.name = one.name,
                                     .dimension = one.space.dimension,
                                     .source = one.name == search::kMainSpace ? source_ : nullptr};
    }
    return Error{Code::kNotFound, fmt::format("the index has no space \"{}\"", name)};
  }
  Result<std::vector<bool>> exist(std::span<const DocId> ids) const override {
    KIN_TRY(const auto entities, router_.get(ids, kContents, staleness_));
    std::vector<bool> there;
    for (const auto& entity : entities) there.push_back(entity.has_value());
    return there;
  }
  Result<index::ShardHits> search(const index::ShardQuery& query,
                                  const search::Showing* showing) const override {
    const router::SearchOptions options{.show = show_of(showing), .staleness = staleness_};
    KIN_TRY(router::RoutedHits hits, router_.search(query, options));
    if (showing != nullptr) shown_ = std::move(hits.shown);
    return std::move(hits.found);
  }
  // Shows the hits that were searched for with `showing`.
  const router::Presented& shown() const { return shown_; }
  Result<index::ShardHits> run(std::span<const index::Stage> stages,
                               const search::Showing* showing) const override {
    KIN_TRY(router::RoutedHits hits, router_.run_pipeline(stages, show_of(showing), staleness_));
    shown_ = std::move(hits.shown);
    return std::move(hits.found);
  }

 private:
  static std::optional<router::Show> show_of(const search::Showing* showing) {
    if (showing == nullptr) return {};
    return router::Show{.text = showing->marks,
                        .snippets = {.length = search::kSnippetBytes},
                        .explain = showing->explain};
  }

  router::Router& router_;
  std::span<const index::SpaceOptions> spaces_;
  std::shared_ptr<const index::VectorSource> source_;  // of the main space
  router::Staleness* staleness_;
  mutable router::Presented shown_;
};

// Why some mutations are not acknowledged.
Error not_acknowledged(const router::Written& written, std::size_t missing, std::size_t all) {
  std::string why = "no node answered";
  if (!written.problems.empty()) {
    const router::ShardProblem& first = written.problems.front();
    why = fmt::format("the node at {}: {}", first.address, first.error.message);
  }
  return {Code::kUnavailable,
          fmt::format("{} of {} changes are not acknowledged; send them again ({})", missing, all,
                      why)};
}

// Writes, and expects an outcome for each.
Result<router::Written> write_all(router::Router& router, std::span<const Mutation> mutations) {
  KIN_TRY(router::Written written, router.write(mutations));
  const auto unknown = static_cast<std::size_t>(std::ranges::count_if(
      written.outcomes, [](const auto& outcome) { return !outcome.has_value(); }));
  if (unknown > 0) return not_acknowledged(written, unknown, mutations.size());
  return written;
}

index::Effect effect_of(const router::Written& written, std::size_t mutation) {
  return written.outcomes[mutation]->effect;
}

}  // namespace

RoutedIndex::RoutedIndex(search::IndexConfig config, std::unique_ptr<router::Router> router,
                         std::shared_ptr<const embed::Embedder> embedder, Clock& clock)
    : config_(std::move(config)),
      router_(std::move(router)),
      embedder_(std::move(embedder)),
      source_(embedder_ ? search::source_of(embedder_) : nullptr),
      clock_(clock) {}

Status RoutedIndex::check(const Document& document, std::span<const Mutation> mutations) const {
  const auto named = [&](const Error& error) {
    return with_context(fmt::format("document \"{}\"", document.id), error);
  };
  for (const Mutation& mutation : mutations) {
    if (const Status valid = index::check(mutation); !valid.ok()) return named(valid.error());
  }
  KIN_TRY(const index::ShardOptions options, search::node_shard_options(config_));
  const auto& entity = std::get<index::PutEntity>(mutations.front()).entity;
  for (const index::SpaceVector& vector : entity.vectors) {
    const auto space = std::ranges::find(options.spaces, vector.space, &index::SpaceOptions::name);
    if (space == options.spaces.end())
      return named({Code::kInvalidArgument,
                    fmt::format("the index has no space \"{}\" for its vector", vector.space)});
    if (const Status fits = index::check_vector(space->space, vector.values); !fits.ok())
      return named(fits.error());
  }
  return Done{};
}

Result<search::AddReport> RoutedIndex::add(std::span<const Document> documents) {
  std::vector<Document> with_vectors;
  if (embedder_) {
    for (const Document& document : documents) {
      if (!document.embedding.empty())
        return Error{Code::kInvalidArgument,
                     fmt::format("document \"{}\": it brings an embedding, but the index makes its "
                                 "own vectors (leave the column out)",
                                 document.id)};
    }
    KIN_TRY(with_vectors, search::embedded(*embedder_, documents));
    documents = with_vectors;
  }
  std::vector<Mutation> all;
  for (const Document& document : documents) {
    std::vector<Mutation> mutations = search::mutations_of(document, search::kMainSpace);
    KIN_RETURN_IF_ERROR(check(document, mutations));
    std::ranges::move(mutations, std::back_inserter(all));
  }
  KIN_TRY(const router::Written written, write_all(*router_, all));
  search::AddReport report{.added = documents.size()};
  std::vector<DocId> originals;
  for (const index::Repeat& repeat : written.repeats) originals.push_back(repeat.of);
  KIN_TRY(const auto keys, keys_of(std::move(originals), nullptr));
  for (const index::Repeat& repeat : written.repeats) {
    const bool refused = effect_of(written, repeat.mutation) == index::Effect::kDuplicate;
    report.added -= refused ? 1 : 0;
    (refused ? report.refused : report.linked)
        .push_back({.id = std::get<index::PutEntity>(all[repeat.mutation]).entity.key,
                    .duplicate_of = keys.at(repeat.of),
                    .similarity = repeat.similarity});
  }
  return report;
}

Result<std::uint64_t> RoutedIndex::remove(std::span<const std::string> ids) {
  std::vector<Mutation> all;
  for (const std::string& id : ids) all.emplace_back(index::RemoveEntity{search::doc_id(id)});
  KIN_TRY(const router::Written written, write_all(*router_, all));
  std::uint64_t removed = 0;
  for (std::size_t i = 0; i < all.size(); ++i)
    removed += effect_of(written, i) == index::Effect::kDone ? 1 : 0;
  return removed;
}

Result<std::unordered_map<DocId, std::string>> RoutedIndex::keys_of(
    std::vector<DocId> ids, router::Staleness* staleness) const {
  std::ranges::sort(ids);
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  std::unordered_map<DocId, std::string> keys;
  if (ids.empty()) return keys;
  KIN_TRY(const auto entities, router_->get(ids, kContents, staleness));
  for (std::size_t i = 0; i < ids.size(); ++i)
    keys.emplace(ids[i], entities[i] ? entities[i]->entity.key : to_string(ids[i]));
  return keys;
}

Result<std::vector<Document>> RoutedIndex::linked(std::span<const index::About> abouts,
                                                  router::Staleness* staleness) const {
  std::vector<DocId> ends;
  for (const index::About& about : abouts) {
    for (const index::StoredEdge& edge : about.edges) ends.push_back(edge.edge.id.to);
  }
  KIN_TRY(const auto keys, keys_of(std::move(ends), staleness));
  std::vector<Document> documents;
  for (const index::About& about : abouts)
    documents.push_back(
        search::linked_document(about, [&](const DocId& id) { return keys.at(id); }));
  return documents;
}

Result<std::optional<Document>> RoutedIndex::document(std::string_view id,
                                                      std::optional<index::Millis> as_of,
                                                      router::Staleness* staleness) const {
  const DocId asked = search::doc_id(id);
  KIN_TRY(const auto abouts,
          router_->about({&asked, 1}, {.vectors = false, .as_of = as_of}, staleness));
  if (!abouts.front()) return std::optional<Document>();
  KIN_TRY(auto documents, linked({&*abouts.front(), 1}, staleness));
  return std::optional(std::move(documents.front()));
}

Result<std::optional<search::Path>> RoutedIndex::path(const search::PathQuestion& question,
                                                      router::Staleness* staleness) const {
  const std::array<DocId, 2> ends{search::doc_id(question.from), search::doc_id(question.to)};
  KIN_TRY(const auto there,
          router_->get(ends, {.vectors = false, .summaries = false, .as_of = question.as_of},
                       staleness));
  for (std::size_t i = 0; i < 2; ++i) {
    if (!there[i])
      return Error{Code::kNotFound, fmt::format("there is no document \"{}\"{}",
                                                i == 0 ? question.from : question.to,
                                                question.as_of ? " at that time" : "")};
  }
  KIN_TRY(const auto found,
          router_->shortest_path({.from = ends[0],
                                  .to = ends[1],
                                  .direction = question.direction,
                                  .filter = {.names = question.edges, .as_of = question.as_of},
                                  .max_hops = question.hops},
                                 staleness));
  if (!found) return std::optional<search::Path>();
  KIN_TRY(const auto entities, router_->get(found->nodes, kContents, staleness));
  search::Path path;
  std::unordered_map<DocId, std::string> keys;
  for (std::size_t i = 0; i < found->nodes.size(); ++i) {
    // It may have been removed since the path was found.
    const auto& entity = entities[i];
    path.nodes.push_back({.id = entity ? entity->entity.key : to_string(found->nodes[i]),
                          .title = entity ? entity->entity.title : ""});
    keys[found->nodes[i]] = path.nodes.back().id;
  }
  for (const index::GraphEdge& edge : found->edges)
    path.edges.push_back({.from = keys[edge.id.from],
                          .to = keys[edge.id.to],
                          .name = edge.id.name,
                          .weight = edge.weight});
  return std::optional(std::move(path));
}

Result<RoutedIndex::Page> RoutedIndex::list(const Place& from, std::size_t most,
                                            router::Staleness* staleness) const {
  const std::size_t partitions = router_->map().partitions.size();
  const bool given = config_.embed.kind == embed::EmbedderKind::kGiven;
  const router::ListRequest request{.partition = index::PartitionId{from.partition},
                                    .after = from.after,
                                    .limit = most,
                                    .want = {.vectors = given || !config_.more.empty()}};
  KIN_TRY(const router::EntityPage page, router_->list(request, staleness));
  if (from.divided.value_or(page.divided) != page.divided)
    return Error{Code::kFailedPrecondition,
                 "partitions of the index were divided while its documents were listed: list them "
                 "from the beginning"};
  Page found;
  KIN_TRY(found.documents, linked(page.entities, staleness));
  for (std::size_t i = 0; i < found.documents.size(); ++i) {
    for (const index::SpaceVector& vector : page.entities[i].entity.entity.vectors) {
      if (vector.space != search::kMainSpace)
        found.documents[i].embeddings.push_back(vector);
      else if (given)
        found.documents[i].embedding = vector.values;
    }
  }
  if (page.next)
    found.next = Place{.partition = from.partition, .after = page.next, .divided = page.divided};
  else if (from.partition + 1 < partitions)
    found.next = Place{.partition = from.partition + 1, .divided = page.divided};
  return found;
}

Result<index::CheckReport> RoutedIndex::check() const {
  const auto replies = router_->check();
  const router::ShardMap map = router_->map();
  index::CheckReport all;
  for (std::size_t shard = 0; shard < replies.size(); ++shard) {
    // A node that was drained may be gone.
    if (!replies[shard].ok() && map.partitions_of(shard).empty()) continue;
    if (!replies[shard].ok()) return with_context(map.shards[shard], replies[shard].error());
    const index::CheckReport& one = replies[shard]->report;
    all.entities += one.entities;
    all.edges += one.edges;
    all.fragments += one.fragments;
    all.text_documents += one.text_documents;
    all.vectors += one.vectors;
    for (const std::string& fault : one.faults)
      all.faults.push_back(fmt::format("{}: {}", map.shards[shard], fault));
  }
  return all;
}

Result<Answer> RoutedIndex::search(const Question& question, router::Staleness* staleness) const {
  const SteadyTime start = clock_.steady_now();
  KIN_TRY(const index::ShardOptions options, search::node_shard_options(config_));
  const search::SearchSettings settings{.text = index::text_options(options),
                                        .alpha = search::alpha_for(config_.embed.kind),
                                        .clock = &clock_};
  const SearchedRouter searched(*router_, options.spaces, source_, staleness);
  KIN_TRY(const search::Found found, search::find(searched, settings, question));
  Answer answer{.count = found.hits.count, .facets = found.hits.facets, .mode = found.mode};
  KIN_TRY(answer.hits, present(found.hits, searched.shown(), question, staleness));
  if (staleness != nullptr) answer.behind = staleness->behind;
  const std::chrono::duration<double, std::milli> taken = clock_.steady_now() - start;
  answer.milliseconds = taken.count();
  return answer;
}

Result<std::vector<AnswerHit>> RoutedIndex::present(const index::ShardHits& found,
                                                    const router::Presented& shown,
                                                    const Question& question,
                                                    router::Staleness* staleness) const {
  // Edges and fragments are shown with the entities at their ends.
  std::vector<DocId> ends;
  for (const index::ShardHit& hit : found.hits) {
    if (hit.doc.kind == index::DocKind::kEntity) continue;
    ends.push_back(hit.doc.id);
    if (!hit.doc.name.empty()) ends.push_back(hit.doc.to);
  }
  std::vector<std::optional<index::StoredEntity>> entities;
  if (!ends.empty()) {
    KIN_TRY(entities, router_->get(ends, kContents, staleness));
  }
  std::unordered_map<DocId, Document> known;
  for (const auto& entity : entities) {
    if (entity) known.emplace(entity->entity.id, search::document_of(entity->entity));
  }
  std::vector<DocId> on_the_way;
  for (const index::ShardHit& hit : found.hits) {
    if (!hit.trace) continue;
    on_the_way.push_back(hit.trace->by);
    for (const index::GraphEdge& edge : hit.trace->edges)
      on_the_way.insert(on_the_way.end(), {edge.id.from, edge.id.to});
  }
  KIN_TRY(const auto keys, keys_of(std::move(on_the_way), staleness));
  const auto document = [&](const DocId& id) {
    const auto at = known.find(id);
    return at == known.end() ? Document{.id = to_string(id)} : at->second;
  };

  std::vector<AnswerHit> hits;
  for (std::size_t i = 0; i < found.hits.size(); ++i) {
    const index::ShardHit& from = found.hits[i];
    if (!shown.documents[i]) continue;  // removed since it was found
    AnswerHit hit{.kind = from.doc.kind, .score = from.score, .legs = from.legs};
    const auto* entity = std::get_if<index::StoredEntity>(&*shown.documents[i]);
    hit.document = entity ? search::document_of(entity->entity) : document(from.doc.id);
    hit.document.text.clear();  // answers have snippets instead
    hit.name = from.doc.name;
    if (!hit.name.empty()) hit.to = document(from.doc.to).id;
    if (i < shown.snippets.size()) {
      for (const index::HitSnippet& snippet : shown.snippets[i])
        (snippet.field == "title" ? hit.title : hit.snippet) = search::marked(snippet);
    }
    if (hit.title.empty() && !hit.document.title.empty()) hit.title = {{hit.document.title, false}};
    if (from.trace) {
      hit.trace = search::AnswerTrace{.by = keys.at(from.trace->by), .hops = from.trace->hops};
      for (const index::GraphEdge& edge : from.trace->edges)
        hit.trace->edges.push_back(
            {keys.at(edge.id.from), keys.at(edge.id.to), edge.id.name, edge.weight});
    }
    if (question.explain) {
      const bool is_explained = i < shown.explanations.size() && shown.explanations[i];
      hit.why = search::reason_of(from.legs, is_explained ? &*shown.explanations[i] : nullptr);
    }
    hits.push_back(std::move(hit));
  }
  return hits;
}

}  // namespace kin::server
