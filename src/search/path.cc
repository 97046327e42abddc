#include "search/path.h"

#include <fmt/format.h>

#include <unordered_map>

#include "search/document.h"

namespace kin::search {
namespace {

Status check_end(const index::TruthView& truth, const std::string& id,
                 std::optional<index::Millis> as_of) {
  KIN_TRY(const auto found,
          truth.get(doc_id(id), {.vectors = false, .summaries = false, .as_of = as_of}));
  if (found) return Done{};
  return Error{Code::kNotFound,
               fmt::format("there is no document \"{}\"{}", id, as_of ? " at that time" : "")};
}

}  // namespace

Result<std::optional<Path>> find_path(const index::TruthView& truth, const PathQuestion& question) {
  KIN_RETURN_IF_ERROR(check_end(truth, question.from, question.as_of));
  KIN_RETURN_IF_ERROR(check_end(truth, question.to, question.as_of));
  KIN_TRY(const auto found,
          index::shortest_path(truth, {.from = doc_id(question.from),
                                       .to = doc_id(question.to),
                                       .direction = question.direction,
                                       .filter = {.names = question.edges, .as_of = question.as_of},
                                       .max_hops = question.hops}));
  if (!found) return std::optional<Path>();
  KIN_TRY(const auto entities,
          truth.get_many(found->nodes, {.vectors = false, .summaries = false}));
  Path path;
  std::unordered_map<DocId, std::string> keys;
  for (std::size_t i = 0; i < entities.size(); ++i) {
    // The search skips missing documents, and everything is read from one view.
    KIN_CHECK(entities[i].has_value(), "a path leads over documents that are there");
    const index::Entity& entity = entities[i]->entity;
    keys[entity.id] = entity.key;
    path.nodes.push_back({.id = entity.key, .title = entity.title});
  }
  for (const index::GraphEdge& edge : found->edges)
    path.edges.push_back({.from = keys.at(edge.id.from),
                          .to = keys.at(edge.id.to),
                          .name = edge.id.name,
                          .weight = edge.weight});
  return std::optional(std::move(path));
}

std::string to_json(const std::optional<Path>& path,
                    std::optional<std::chrono::milliseconds> behind) {
  JsonWriter json;
  json.begin_object();
  write_behind(json, behind);
  json.key("path");
  if (!path) return json.null().end().take();
  json.begin_object().field("hops", path->edges.size()).key("nodes").begin_array();
  for (const PathNode& node : path->nodes)
    json.begin_object().field("id", node.id).field("title", node.title).end();
  json.end().key("edges").begin_array();
  for (const AnswerEdge& edge : path->edges) write_edge(json, edge);
  return json.end().end().end().take();
}

}  // namespace kin::search
