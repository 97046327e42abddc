#include <algorithm>
#include <queue>
#include <unordered_map>

#include "index/graph.h"

namespace kin::index {
namespace {

Error too_many_edges() {
  return {Code::kResourceExhausted,
          "the search for a path looked at too many edges (allow more, or name the edges to use)"};
}

Result<std::vector<std::uint8_t>> present(const TruthView& view, const PathRequest& request,
                                          std::span<const DocId> ids) {
  std::vector<std::uint8_t> there(ids.size(), 1);
  if (request.missing == Missing::kVisit) return there;
  KIN_TRY(const auto heads, view.heads(ids));
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto& as_of = request.filter.as_of;
    there[i] = heads[i] && (!as_of || heads[i]->valid.holds_at(*as_of)) ? 1 : 0;
  }
  return there;
}

// How the search reached a node.
struct Arrival {
  DocId by = {};
  EdgeStep step = {};
};
using Arrivals = std::unordered_map<DocId, Arrival>;

// The steps from where `arrivals` began to `node`, the last one first.
std::vector<EdgeStep> steps_back(const Arrivals& arrivals, DocId node) {
  std::vector<EdgeStep> steps;
  for (;;) {
    const Arrival& arrival = arrivals.at(node);
    if (arrival.by == node) return steps;  // only the start was reached from itself
    steps.push_back(arrival.step);
    node = arrival.by;
  }
}

// The nodes along `steps`, which begin at `from`.
Result<Path> path_along(const TruthView& view, const DocId& from,
                        const std::vector<EdgeStep>& steps) {
  Path path{.nodes = {from}, .edges = {}, .cost = static_cast<double>(steps.size())};
  for (const EdgeStep& step : steps) {
    const DocId& last = path.nodes.back();
    path.nodes.push_back(step.key.from == last ? step.key.to : step.key.from);
    KIN_TRY(GraphEdge edge, named(view, step));
    path.edges.push_back(std::move(edge));
  }
  return path;
}

// Searches from both ends, always one level of the smaller side. Levels grow by one hop, so the
// first node that both sides have reached is on a shortest path.
class MeetingSearch {
 public:
  MeetingSearch(const TruthView& view, const PathRequest& request)
      : view_(view),
        request_(request),
        sides_{Side(view, request.direction, request, request.from),
               Side(view, opposite(request.direction), request, request.to)} {}

  Result<std::optional<Path>> run() {
    for (std::uint32_t hops = 0; hops < request_.max_hops; ++hops) {
      const bool second = sides_[1].level.size() < sides_[0].level.size();
      if (sides_[0].level.empty() || sides_[1].level.empty()) break;
      KIN_RETURN_IF_ERROR(advance(sides_[second ? 1 : 0], sides_[second ? 0 : 1]));
      if (!meeting_) continue;
      KIN_TRY(Path path, join());
      return std::optional(std::move(path));
    }
    return std::optional<Path>();
  }

 private:
  struct Side {
    Side(const TruthView& view, Direction direction, const PathRequest& request, const DocId& start)
        : walker(view, direction, request.filter), level{start} {
      arrivals.emplace(start, Arrival{.by = start, .step = {}});
    }
    EdgeWalker walker;
    std::vector<DocId> level;
    Arrivals arrivals;
  };

  Status advance(Side& side, const Side& other) {
    std::vector<DocId> next;
    bool over = false;
    for (const DocId& node : side.level) {
      const auto take = [&](const EdgeStep& step) {
        // Nodes that are missing are taken out again below.
        over = over || ++looked_at_ > request_.max_edges;
        const Arrival arrival{.by = node, .step = step};
        if (side.arrivals.emplace(step.other, arrival).second) next.push_back(step.other);
        return !over;
      };
      KIN_RETURN_IF_ERROR(side.walker.visit(node, take));
      if (over) return too_many_edges();
    }
    KIN_TRY(const auto there, present(view_, request_, next));
    side.level.clear();
    for (std::size_t i = 0; i < next.size(); ++i) {
      if (there[i] == 0) continue;
      side.level.push_back(next[i]);
      if (!meeting_ && other.arrivals.contains(next[i])) meeting_ = next[i];
    }
    // The other side must not meet a missing node.
    for (std::size_t i = 0; i < next.size(); ++i) {
      if (there[i] == 0) side.arrivals.erase(next[i]);
    }
    return Done{};
  }

  Result<Path> join() const {
    std::vector<EdgeStep> steps = steps_back(sides_[0].arrivals, *meeting_);
    std::reverse(steps.begin(), steps.end());
    const std::vector<EdgeStep> rest = steps_back(sides_[1].arrivals, *meeting_);
    steps.insert(steps.end(), rest.begin(), rest.end());
    return path_along(view_, request_.from, steps);
  }

  const TruthView& view_;
  const PathRequest& request_;
  std::array<Side, 2> sides_;
  std::optional<DocId> meeting_;
  std::size_t looked_at_ = 0;
};

// Dijkstra's algorithm.
class CheapestSearch {
 public:
  CheapestSearch(const TruthView& view, const PathRequest& request)
      : view_(view), request_(request), walker_(view, request.direction, request.filter) {}

  Result<std::optional<Path>> run() {
    costs_[request_.from] = 0;
    arrivals_.emplace(request_.from, Arrival{.by = request_.from, .step = {}});
    queue_.push({0, request_.from});
    while (!queue_.empty()) {
      const auto [cost, node] = queue_.top();
      queue_.pop();
      if (cost > costs_.at(node)) continue;  // a cheaper way was found after it was queued
      if (node == request_.to) return finish();
      // Presence is checked for nodes that the search leaves, not for every node it sees.
      KIN_TRY(const auto there, present(view_, request_, std::span(&node, 1)));
      if (there[0] != 0) KIN_RETURN_IF_ERROR(leave(node, cost));
    }
    return std::optional<Path>();
  }

 private:
  Result<double> length_of(double weight) const {
    const bool inverse = request_.cost == PathRequest::Cost::kInverseWeight;
    if (weight > 0 || (weight == 0 && !inverse)) return inverse ? 1 / weight : weight;
    return Error{Code::kInvalidArgument,
                 inverse ? "an edge on the path has a weight that is not positive"
                         : "an edge on the path has a negative weight"};
  }

  Status leave(const DocId& node, double cost) {
    Status failure = Done{};
    const auto take = [&](const EdgeStep& step) {
      const Result<double> length = length_of(step.weight);
      if (++looked_at_ > request_.max_edges) failure = too_many_edges();
      if (failure.ok() && !length.ok()) failure = length.error();
      if (!failure.ok()) return false;
      const double total = cost + *length;
      const auto [known, added] = costs_.emplace(step.other, total);
      if (!added && known->second <= total) return true;
      known->second = total;  // the dearer entry stays in the queue and is passed over
      arrivals_.insert_or_assign(step.other, Arrival{.by = node, .step = step});
      queue_.push({total, step.other});
      return true;
    };
    KIN_RETURN_IF_ERROR(walker_.visit(node, take));
    return failure;
  }

  Result<std::optional<Path>> finish() const {
    std::vector<EdgeStep> steps = steps_back(arrivals_, request_.to);
    std::reverse(steps.begin(), steps.end());
    KIN_TRY(Path path, path_along(view_, request_.from, steps));
    path.cost = costs_.at(request_.to);
    return std::optional(std::move(path));
  }

  using Entry = std::pair<double, DocId>;
  const TruthView& view_;
  const PathRequest& request_;
  EdgeWalker walker_;
  std::unordered_map<DocId, double> costs_;
  Arrivals arrivals_;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue_;
  std::size_t looked_at_ = 0;
};

}  // namespace

Result<std::optional<Path>> shortest_path(const TruthView& view, const PathRequest& request) {
  const std::array<DocId, 2> ends{request.from, request.to};
  KIN_TRY(const auto there, present(view, request, ends));
  if (there[0] == 0 || there[1] == 0) return std::optional<Path>();
  if (request.from == request.to)
    return std::optional(Path{.nodes = {request.from}, .edges = {}, .cost = 0});
  if (request.cost == PathRequest::Cost::kHops) return MeetingSearch(view, request).run();
  return CheapestSearch(view, request).run();
}

}  // namespace kin::index
