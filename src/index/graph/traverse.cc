#include <algorithm>
#include <unordered_map>

#include "index/graph.h"

namespace kin::index {
namespace {

// The state of one traversal.
class Traverser {
 public:
  Traverser(const TruthView& view, const TraverseRequest& request)
      : view_(view), request_(request), walker_(view, request.direction, request.filter) {}

  Result<Traversal> run() {
    std::vector<Reached> level;
    for (const DocId& id : request_.from) level.push_back({.id = id, .by = id});
    KIN_RETURN_IF_ERROR(arrive(level));
    for (std::uint32_t hop = 1; hop <= request_.hops && !level.empty() && !full_; ++hop) {
      KIN_TRY(level, next_level(level, hop));
      KIN_RETURN_IF_ERROR(arrive(level));
    }
    KIN_RETURN_IF_ERROR(keep_joining_edges());
    return std::move(found_);
  }

 private:
  // Keeps the new and existing nodes of `level`, up to the limit.
  Status arrive(std::vector<Reached>& level) {
    std::vector<DocId> ids(level.size());
    std::transform(level.begin(), level.end(), ids.begin(), [](const Reached& r) { return r.id; });
    std::vector<std::optional<EntityHead>> heads;
    if (request_.missing == Missing::kSkip) {
      KIN_TRY(heads, view_.heads(ids));
    }
    std::vector<Reached> kept;
    for (std::size_t i = 0; i < level.size(); ++i) {
      if (request_.missing == Missing::kSkip && !is_there(heads[i])) continue;
      if (places_.contains(level[i].id)) continue;  // several nodes of the last level lead to it
      if (found_.nodes.size() == request_.max_nodes) {
        stop();
        break;
      }
      places_.emplace(level[i].id, found_.nodes.size());
      found_.nodes.push_back(level[i]);
      kept.push_back(level[i]);
    }
    level = std::move(kept);
    return Done{};
  }

  bool is_there(const std::optional<EntityHead>& head) const {
    const auto& as_of = request_.filter.as_of;
    return head && (!as_of || head->valid.holds_at(*as_of)) &&
           (!request_.partitions || request_.partitions->contains(head->partition));
  }

  Result<std::vector<Reached>> next_level(const std::vector<Reached>& level, std::uint32_t hop) {
    std::vector<Reached> next;
    for (const Reached& node : level) {
      if (full_) break;
      std::size_t fan_out = 0;
      const auto take = [&](const EdgeStep& step) {
        if (steps_.size() == request_.max_edges) {
          stop();
          return false;
        }
        if (fan_out++ == request_.max_fan_out) {
          found_.complete = false;
          return false;
        }
        // Whether both ends are kept is known only at the end: see keep_joining_edges().
        steps_.push_back(step);
        if (!places_.contains(step.other))
          next.push_back({.id = step.other, .hops = hop, .by = node.id});
        return true;
      };
      KIN_RETURN_IF_ERROR(walker_.visit(node.id, take));
    }
    return next;
  }

  void stop() {
    full_ = true;
    found_.complete = false;
  }

  Status keep_joining_edges() {
    for (const EdgeStep& step : steps_) {
      if (!places_.contains(step.key.from) || !places_.contains(step.key.to)) continue;
      KIN_TRY(GraphEdge edge, named(view_, step));
      found_.edges.push_back(std::move(edge));
    }
    // The edge may have been visited from both ends.
    const auto by_id = [](const GraphEdge& a, const GraphEdge& b) { return a.id < b.id; };
    std::sort(found_.edges.begin(), found_.edges.end(), by_id);
    found_.edges.erase(std::unique(found_.edges.begin(), found_.edges.end()), found_.edges.end());
    return Done{};
  }

  const TruthView& view_;
  const TraverseRequest& request_;
  EdgeWalker walker_;
  Traversal found_;
  std::unordered_map<DocId, std::size_t> places_;
  std::vector<EdgeStep> steps_;
  bool full_ = false;
};

}  // namespace

Result<Traversal> traverse(const TruthView& view, const TraverseRequest& request) {
  return Traverser(view, request).run();
}

}  // namespace kin::index
