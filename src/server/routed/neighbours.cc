#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_set>

#include "server/routed/routed_index.h"

namespace kin::server {
namespace {

constexpr index::Want kTitles{.vectors = false, .summaries = false};

std::vector<DocId> ids_of(std::span<const index::Reached> nodes) {
  std::vector<DocId> ids;
  for (const index::Reached& node : nodes) ids.push_back(node.id);
  return ids;
}

// A walk ends at its outermost nodes; edges between those are added here.
Status add_outer_edges(router::Router& router, const search::NeighboursQuestion& question,
                       index::Traversal& walk, router::Staleness* staleness) {
  std::vector<DocId> outer;
  for (const index::Reached& node : walk.nodes) {
    if (node.hops == question.hops) outer.push_back(node.id);
  }
  if (outer.empty()) return Done{};
  KIN_TRY(const index::Traversal more, router.traverse({.from = outer,
                                                        .direction = index::Direction::kOut,
                                                        .filter = {.as_of = question.as_of},
                                                        .hops = 1,
                                                        .missing = index::Missing::kVisit},
                                                       staleness));
  std::unordered_set<DocId> nodes;
  for (const index::Reached& node : walk.nodes) nodes.insert(node.id);
  std::set<index::EdgeId> known;
  for (const index::GraphEdge& edge : walk.edges) known.insert(edge.id);
  for (const index::GraphEdge& edge : more.edges) {
    const bool inside = nodes.contains(edge.id.from) && nodes.contains(edge.id.to);
    if (inside && known.insert(edge.id).second) walk.edges.push_back(edge);
  }
  return Done{};
}

}  // namespace

Result<search::Neighbours> RoutedIndex::neighbours(
    const search::NeighboursQuestion& question, router::Staleness* staleness) const {
  const DocId start = search::doc_id(question.id);
  KIN_TRY(
      const auto there,
      router_->get({&start, 1}, {.vectors = false, .summaries = false, .as_of = question.as_of},
                   staleness));
  if (!there.front())
    return Error{Code::kNotFound, fmt::format("there is no document \"{}\"", question.id)};
  // Documents that do not exist are shown too: a link leads to them.
  KIN_TRY(index::Traversal walk, router_->traverse({.from = {start},
                                                    .direction = index::Direction::kBoth,
                                                    .filter = {.as_of = question.as_of},
                                                    .hops = question.hops,
                                                    .missing = index::Missing::kVisit,
                                                    .max_nodes = question.limit},
                                                   staleness));
  KIN_RETURN_IF_ERROR(add_outer_edges(*router_, question, walk, staleness));
  const std::vector<DocId> ids = ids_of(walk.nodes);
  KIN_TRY(const auto entities, router_->get(ids, kTitles, staleness));
  search::Neighbours found{.complete = walk.complete};
  std::unordered_map<DocId, std::string> keys;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto& entity = entities[i];
    found.nodes.push_back({.id = entity ? entity->entity.key : to_string(ids[i]),
                           .title = entity ? entity->entity.title : "",
                           .hops = walk.nodes[i].hops,
                           .missing = !entity});
    keys.emplace(ids[i], found.nodes.back().id);
  }
  for (const index::GraphEdge& edge : walk.edges)
    found.edges.push_back({.from = keys.at(edge.id.from),
                           .to = keys.at(edge.id.to),
                           .name = edge.id.name,
                           .weight = edge.weight});
  return found;
}

}  // namespace kin::server
