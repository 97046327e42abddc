#include <algorithm>
#include <unordered_set>

#include "router/query/walks.h"

namespace kin::router {
namespace {

using index::GraphEdge;
using index::Reached;

// As index::traverse(), one level after another.
class Walk {
 public:
  Walk(EdgeReader& reader, const index::TraverseRequest& request)
      : reader_(reader), request_(request) {}

  Result<index::Traversal> run() {
    std::vector<Reached> level;
    for (const DocId& id : request_.from) level.push_back({.id = id, .by = id});
    KIN_RETURN_IF_ERROR(arrive(level));
    for (std::uint32_t hop = 1; hop <= request_.hops && !level.empty() && !full_; ++hop) {
      KIN_TRY(level, next_level(level, hop));
      KIN_RETURN_IF_ERROR(arrive(level));
    }
    keep_joining_edges();
    return std::move(found_);
  }

 private:
  // Keeps the new and existing nodes of `level`, up to the limit.
  Status arrive(std::vector<Reached>& level) {
    std::vector<DocId> ids;
    for (const Reached& one : level) ids.push_back(one.id);
    std::vector<bool> there(ids.size(), true);
    if (request_.missing == index::Missing::kSkip) {
      KIN_TRY(there, reader_.exist(ids));
    }
    std::vector<Reached> kept;
    for (std::size_t i = 0; i < level.size(); ++i) {
      if (!there[i] || seen_.contains(level[i].id)) continue;
      if (found_.nodes.size() == request_.max_nodes) {
        stop();
        break;
      }
      seen_.insert(level[i].id);
      found_.nodes.push_back(level[i]);
      kept.push_back(level[i]);
    }
    level = std::move(kept);
    return Done{};
  }

  Result<std::vector<Reached>> next_level(const std::vector<Reached>& level, std::uint32_t hop) {
    std::vector<DocId> ids;
    for (const Reached& one : level) ids.push_back(one.id);
    // One more than wanted tells whether there are more.
    KIN_TRY(auto lists, reader_.edges(ids, request_.direction, request_.max_fan_out + 1));
    std::vector<Reached> next;
    for (std::size_t i = 0; i < lists.size() && !full_; ++i) {
      if (lists[i].size() > request_.max_fan_out) {
        found_.complete = false;
        lists[i].pop_back();
      }
      for (GraphEdge& edge : lists[i]) {
        if (edges_.size() == request_.max_edges) {
          stop();
          break;
        }
        const DocId other = edge.id.from == ids[i] ? edge.id.to : edge.id.from;
        if (!seen_.contains(other)) next.push_back({.id = other, .hops = hop, .by = ids[i]});
        edges_.push_back(std::move(edge));
      }
    }
    return next;
  }

  void stop() {
    full_ = true;
    found_.complete = false;
  }

  void keep_joining_edges() {
    for (GraphEdge& edge : edges_) {
      if (seen_.contains(edge.id.from) && seen_.contains(edge.id.to))
        found_.edges.push_back(std::move(edge));
    }
    // Both ends may have visited it.
    std::ranges::sort(found_.edges, {}, &GraphEdge::id);
    const auto same = [](const GraphEdge& a, const GraphEdge& b) { return a.id == b.id; };
    found_.edges.erase(std::unique(found_.edges.begin(), found_.edges.end(), same),
                       found_.edges.end());
  }

  EdgeReader& reader_;
  const index::TraverseRequest& request_;
  index::Traversal found_;
  std::unordered_set<DocId> seen_;
  std::vector<GraphEdge> edges_;
  bool full_ = false;
};

}  // namespace

Result<index::Traversal> walk(EdgeReader& reader, const index::TraverseRequest& request) {
  return Walk(reader, request).run();
}

}  // namespace kin::router
