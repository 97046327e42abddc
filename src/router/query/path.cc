#include <algorithm>
#include <array>
#include <set>
#include <unordered_map>

#include "router/query/walks.h"

namespace kin::router {
namespace {

using index::GraphEdge;
using index::Path;

Error too_many_edges() {
  return {Code::kResourceExhausted,
          "the search for a path looked at too many edges (allow more, or name the edges to use)"};
}

// How the search reached a node; by itself where it began.
struct Arrival {
  DocId by = {};
  GraphEdge edge = {};
};
using Arrivals = std::unordered_map<DocId, Arrival>;

DocId other_end(const GraphEdge& edge, const DocId& node) {
  return edge.id.from == node ? edge.id.to : edge.id.from;
}

// The edges from where `arrivals` began to `node`, the last one first.
std::vector<GraphEdge> edges_back(const Arrivals& arrivals, DocId node) {
  std::vector<GraphEdge> edges;
  for (;;) {
    const Arrival& arrival = arrivals.at(node);
    if (arrival.by == node) return edges;
    edges.push_back(arrival.edge);
    node = arrival.by;
  }
}

Path path_along(const DocId& from, std::vector<GraphEdge> edges, double cost) {
  Path path{.nodes = {from}, .edges = std::move(edges), .cost = cost};
  for (const GraphEdge& edge : path.edges) path.nodes.push_back(other_end(edge, path.nodes.back()));
  return path;
}

Result<std::vector<bool>> exist(EdgeReader& reader, const index::PathRequest& request,
                                std::span<const DocId> ids) {
  if (request.missing == index::Missing::kVisit) return std::vector<bool>(ids.size(), true);
  return reader.exist(ids);
}

// Searches from both ends, always one level of the smaller side, as index::shortest_path() does.
class MeetingSearch {
 public:
  MeetingSearch(EdgeReader& reader, const index::PathRequest& request)
      : reader_(reader),
        request_(request),
        sides_{Side(request.direction, request.from),
               Side(index::opposite(request.direction), request.to)} {}

  Result<std::optional<Path>> run() {
    for (std::uint32_t hops = 0; hops < request_.max_hops; ++hops) {
      const bool second = sides_[1].level.size() < sides_[0].level.size();
      if (sides_[0].level.empty() || sides_[1].level.empty()) break;
      KIN_RETURN_IF_ERROR(advance(sides_[second ? 1 : 0], sides_[second ? 0 : 1]));
      if (meeting_) return std::optional(join());
    }
    return std::optional<Path>();
  }

 private:
  struct Side {
    Side(index::Direction way, const DocId& start) : direction(way), level{start} {
      arrivals.emplace(start, Arrival{.by = start});
    }
    index::Direction direction;
    std::vector<DocId> level;
    Arrivals arrivals;
  };

  Status advance(Side& side, const Side& other) {
    KIN_TRY(const auto lists, reader_.edges(side.level, side.direction, request_.max_edges + 1));
    std::vector<DocId> next;
    for (std::size_t i = 0; i < lists.size(); ++i) {
      looked_at_ += lists[i].size();
      if (looked_at_ > request_.max_edges) return too_many_edges();
      for (const GraphEdge& edge : lists[i]) {
        const DocId& node = side.level[i];
        const DocId reached = other_end(edge, node);
        if (side.arrivals.emplace(reached, Arrival{.by = node, .edge = edge}).second)
          next.push_back(reached);
      }
    }
    KIN_TRY(const auto there, exist(reader_, request_, next));
    side.level.clear();
    for (std::size_t i = 0; i < next.size(); ++i) {
      if (!there[i]) {
        side.arrivals.erase(next[i]);  // the other side must not meet a missing node
        continue;
      }
      side.level.push_back(next[i]);
      if (!meeting_ && other.arrivals.contains(next[i])) meeting_ = next[i];
    }
    return Done{};
  }

  Path join() const {
    std::vector<GraphEdge> edges = edges_back(sides_[0].arrivals, *meeting_);
    std::ranges::reverse(edges);
    const std::vector<GraphEdge> rest = edges_back(sides_[1].arrivals, *meeting_);
    edges.insert(edges.end(), rest.begin(), rest.end());
    const auto cost = static_cast<double>(edges.size());
    return path_along(request_.from, std::move(edges), cost);
  }

  EdgeReader& reader_;
  const index::PathRequest& request_;
  std::array<Side, 2> sides_;
  std::optional<DocId> meeting_;
  std::size_t looked_at_ = 0;
};

// Dijkstra's algorithm. The edges of the nodes that come next are read together.
class CheapestSearch {
 public:
  CheapestSearch(EdgeReader& reader, const index::PathRequest& request)
      : reader_(reader), request_(request) {}

  Result<std::optional<Path>> run() {
    costs_[request_.from] = 0;
    arrivals_.emplace(request_.from, Arrival{.by = request_.from});
    queue_.insert({0, request_.from});
    while (!queue_.empty()) {
      const auto [cost, node] = *queue_.begin();
      if (node == request_.to) return finish();
      KIN_TRY(const Node* read, node_at(node));
      queue_.erase(queue_.begin());
      if (read->exists) KIN_RETURN_IF_ERROR(leave(node, cost, read->edges));
    }
    return std::optional<Path>();
  }

 private:
  struct Node {
    bool exists = false;
    std::vector<GraphEdge> edges = {};
  };
  static constexpr std::size_t kTogether = 64;

  // With the nodes behind it in the queue, which are needed soon unless the path is found first.
  Result<const Node*> node_at(const DocId& node) {
    if (const auto known = nodes_.find(node); known != nodes_.end()) return &known->second;
    std::vector<DocId> ids;
    for (auto one = queue_.begin(); one != queue_.end() && ids.size() < kTogether; ++one) {
      if (!nodes_.contains(one->second)) ids.push_back(one->second);
    }
    KIN_TRY(const auto there, exist(reader_, request_, ids));
    KIN_TRY(auto lists, reader_.edges(ids, request_.direction, request_.max_edges + 1));
    for (std::size_t i = 0; i < ids.size(); ++i)
      nodes_[ids[i]] = {.exists = there[i], .edges = std::move(lists[i])};
    return &nodes_.at(node);
  }

  Result<double> length_of(double weight) const {
    const bool inverse = request_.cost == index::PathRequest::Cost::kInverseWeight;
    if (weight > 0 || (weight == 0 && !inverse)) return inverse ? 1 / weight : weight;
    return Error{Code::kInvalidArgument,
                 inverse ? "an edge on the path has a weight that is not positive"
                         : "an edge on the path has a negative weight"};
  }

  Status leave(const DocId& node, double cost, const std::vector<GraphEdge>& edges) {
    for (const GraphEdge& edge : edges) {
      if (++looked_at_ > request_.max_edges) return too_many_edges();
      KIN_TRY(const double length, length_of(edge.weight));
      const DocId reached = other_end(edge, node);
      const double total = cost + length;
      const auto [known, added] = costs_.emplace(reached, total);
      if (!added && known->second <= total) continue;
      if (!added) queue_.erase({known->second, reached});
      known->second = total;
      arrivals_.insert_or_assign(reached, Arrival{.by = node, .edge = edge});
      queue_.insert({total, reached});
    }
    return Done{};
  }

  std::optional<Path> finish() const {
    std::vector<GraphEdge> edges = edges_back(arrivals_, request_.to);
    std::ranges::reverse(edges);
    return path_along(request_.from, std::move(edges), costs_.at(request_.to));
  }

  EdgeReader& reader_;
  const index::PathRequest& request_;
  std::unordered_map<DocId, Node> nodes_;
  std::unordered_map<DocId, double> costs_;
  Arrivals arrivals_;
  std::set<std::pair<double, DocId>> queue_;
  std::size_t looked_at_ = 0;
};

}  // namespace

Result<std::optional<Path>> find_path(EdgeReader& reader, const index::PathRequest& request) {
  const std::array<DocId, 2> ends{request.from, request.to};
  KIN_TRY(const auto there, exist(reader, request, ends));
  if (!there[0] || !there[1]) return std::optional<Path>();
  if (request.from == request.to) return std::optional(path_along(request.from, {}, 0));
  if (request.cost == index::PathRequest::Cost::kHops) return MeetingSearch(reader, request).run();
  return CheapestSearch(reader, request).run();
}

}  // namespace kin::router
