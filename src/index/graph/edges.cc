#include "index/graph/edges.h"

#include <algorithm>

namespace kin::index {

Direction opposite(Direction direction) {
  switch (direction) {
    case Direction::kOut: return Direction::kIn;
    case Direction::kIn: return Direction::kOut;
    case Direction::kBoth: return Direction::kBoth;
  }
  KIN_UNREACHABLE();
}

Result<GraphEdge> named(const TruthView& view, const EdgeStep& step) {
  KIN_TRY(const std::string_view name, view.name(step.key.name));
  return GraphEdge{.id = {.from = step.key.from,
                          .name = std::string(name),
                          .to = step.key.to,
                          .since = step.key.since},
                   .until = step.until,
                   .weight = step.weight};
}

EdgeWalker::EdgeWalker(const TruthView& view, Direction direction, const EdgeFilter& filter)
    : view_(view), direction_(direction), filter_(filter) {
  for (const std::string& name : filter_.names) {
    if (const auto id = view_.find_name(name)) names_.push_back(*id);
  }
  std::sort(names_.begin(), names_.end());
  names_.erase(std::unique(names_.begin(), names_.end()), names_.end());
}

kv::Cursor& EdgeWalker::cursor(Side side) {
  // A walk visits many nodes: moving a cursor costs far less than making one.
  auto& slot = cursors_[static_cast<std::size_t>(side)];
  if (!slot) slot = view_.rows(side == Side::kForward ? kForwardEdgesFamily : kReverseEdgesFamily);
  return *slot;
}

bool EdgeWalker::means(const EdgeStep& step) const {
  const Validity period{.from = step.key.since, .until = step.until};
  if (filter_.as_of && !period.holds_at(*filter_.as_of)) return false;
  if (filter_.during &&
      (period.from >= filter_.during->until || filter_.during->from >= period.until)) {
    return false;
  }
  if (filter_.min_weight && step.weight < *filter_.min_weight) return false;
  return !filter_.max_weight || step.weight <= *filter_.max_weight;
}

Result<bool> EdgeWalker::walk(Side side, std::string_view prefix, const Visit& visit) {
  const bool forward = side == Side::kForward;
  kv::Cursor& at = cursor(side);
  for (at.seek(prefix); at.valid() && at.key().starts_with(prefix); at.next()) {
    const auto key = forward ? decode_forward_key(at.key()) : decode_reverse_key(at.key());
    if (!key) return Error{Code::kDataLoss, "a key of edges is damaged"};
    EdgeStep step{.key = *key, .other = forward ? key->to : key->from};
    // Only forward rows have tombstones; reverse rows are removed with their edge.
    if (forward) {
      KIN_TRY(const EdgeRow row, decode_edge(at.value()));
      if (row.deleted) continue;
      step.until = row.until;
      step.weight = row.weight;
    } else {
      KIN_TRY(const ReverseRow row, decode_reverse(at.value()));
      step.until = row.until;
      step.weight = row.weight;
    }
    if (means(step) && !visit(step)) return false;
  }
  KIN_RETURN_IF_ERROR(at.status());
  return true;
}

Result<bool> EdgeWalker::walk_names(Side side, const DocId& node, const Visit& visit) {
  // Not `names_`: a filter by names that no edge has finds nothing.
  if (filter_.names.empty()) return walk(side, node.view(), visit);
  for (const NameId name : names_) {
    KIN_TRY(const bool more, walk(side, edges_prefix(node, name), visit));
    if (!more) return false;
  }
  return true;
}

Status EdgeWalker::visit(const DocId& node, const Visit& visit) {
  if (direction_ != Direction::kIn) {
    KIN_TRY(const bool more, walk_names(Side::kForward, node, visit));
    if (!more) return Done{};
  }
  if (direction_ != Direction::kOut) {
    // An edge from a node to itself was already visited as an outgoing edge.
    const auto inward = [&](const EdgeStep& step) {
      const bool met = direction_ == Direction::kBoth && step.key.from == step.key.to;
      return met || visit(step);
    };
    KIN_TRY([[maybe_unused]] const bool more, walk_names(Side::kReverse, node, inward));
  }
  return Done{};
}

Result<std::vector<GraphEdge>> edges(const TruthView& view, const EdgeQuery& query) {
  std::vector<EdgeStep> steps;
  const bool in_order = query.order == EdgeQuery::Order::kName;
  const auto take = [&](const EdgeStep& step) {
    // The walk is in order of names. The other orders need all edges.
    if (in_order && steps.size() == query.limit) return false;
    steps.push_back(step);
    return true;
  };
  EdgeWalker walker(view, query.direction, query.filter);
  KIN_RETURN_IF_ERROR(walker.visit(query.node, take));
  if (query.order == EdgeQuery::Order::kHeaviest) {
    std::stable_sort(steps.begin(), steps.end(),
                     [](const EdgeStep& a, const EdgeStep& b) { return a.weight > b.weight; });
  }
  if (query.order == EdgeQuery::Order::kNewest) {
    std::stable_sort(steps.begin(), steps.end(), [](const EdgeStep& a, const EdgeStep& b) {
      return a.key.since > b.key.since;
    });
  }
  if (steps.size() > query.limit) steps.resize(query.limit);
  std::vector<GraphEdge> found;
  for (const EdgeStep& step : steps) {
    KIN_TRY(GraphEdge edge, named(view, step));
    found.push_back(std::move(edge));
  }
  return found;
}

}  // namespace kin::index
