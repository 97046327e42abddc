#include "search/linked_document.h"

namespace kin::search {
namespace {

std::vector<index::Fragment> contents(const std::vector<index::StoredFragment>& stored) {
  std::vector<index::Fragment> fragments;
  for (const index::StoredFragment& one : stored) fragments.push_back(one.fragment);
  return fragments;
}

}  // namespace

Document linked_document(const index::About& about,
                         const std::function<std::string(const DocId&)>& key_of) {
  Document document = document_of(about.entity.entity);
  document.fragments = contents(about.fragments);
  std::vector<Link> links;
  for (std::size_t i = 0; i < about.edges.size(); ++i) {
    const index::Edge& edge = about.edges[i].edge;
    links.push_back({.to = key_of(edge.id.to),
                     .name = edge.id.name,
                     .weight = edge.weight,
                     .valid = {edge.id.since, edge.until},
                     .summary = edge.summary});
    if (i < about.edge_fragments.size()) links.back().fragments = contents(about.edge_fragments[i]);
  }
  if (!links.empty()) document.links = std::move(links);
  return document;
}

}  // namespace kin::search
