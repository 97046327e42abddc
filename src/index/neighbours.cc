#include "index/neighbours.h"

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>

namespace kin::index {
namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

// The best score that reached a node in a given number of hops.
struct Arrival {
  double score = 0;
  std::size_t from = kNone;
  std::size_t edge = kNone;
};

struct Link {
  std::size_t from = 0;
  std::size_t to = 0;
  std::size_t edge = 0;
  double weight = 0;
};

// Passes scores on along the edges of a traversal, one layer per hop. The layers keep, for every
// node and hop, the edge that its best score came by, from which the way is read back.
class Spreader {
 public:
  Spreader(const Traversal& found, const Expansion& expand) : found_(found), expand_(expand) {
    for (std::size_t i = 0; i < found.nodes.size(); ++i) places_.emplace(found.nodes[i].id, i);
    add_links();
  }

  void run(std::span<const Seed> seeds) {
    layers_.assign(1, std::vector<Arrival>(found_.nodes.size()));
    for (const Seed& seed : seeds) {
      const auto place = places_.find(seed.id);
      if (place == places_.end()) continue;
      double& score = layers_[0][place->second].score;
      score = std::max(score, seed.score);
    }
    for (std::uint32_t hop = 1; hop <= expand_.hops; ++hop) layers_.push_back(next_layer());
  }

  // Nothing if no score reached the node.
  std::optional<Neighbour> neighbour(std::size_t node) const {
    std::size_t hops = 0;
    double best = 0;
    for (std::size_t hop = 1; hop < layers_.size(); ++hop) {
      if (layers_[hop][node].score <= best) continue;  // of equal scores fewer hops count
      best = layers_[hop][node].score;
      hops = hop;
    }
    if (hops == 0) return std::nullopt;
    Neighbour result{.id = found_.nodes[node].id, .score = best};
    result.trace.hops = static_cast<std::uint32_t>(hops);
    result.trace.by = found_.nodes[layers_[hops][node].from].id;
    for (std::size_t at = node, hop = hops; hop > 0; --hop) {
      const Arrival& arrival = layers_[hop][at];
      result.trace.edges.push_back(found_.edges[arrival.edge]);
      at = arrival.from;
    }
    std::ranges::reverse(result.trace.edges);
    return result;
  }

 private:
  void add_links() {
    double heaviest = 1;  // at least 1, so that weights up to 1 count as they are
    for (const GraphEdge& edge : found_.edges) heaviest = std::max(heaviest, edge.weight);
    for (std::size_t i = 0; i < found_.edges.size(); ++i) {
      const GraphEdge& edge = found_.edges[i];
      const std::size_t from = places_.at(edge.id.from);
      const std::size_t to = places_.at(edge.id.to);
      const double weight = edge.weight / heaviest;
      if (from == to || weight <= 0) continue;  // a loop leads nowhere else
      if (expand_.direction != Direction::kIn) links_.push_back({from, to, i, weight});
      if (expand_.direction != Direction::kOut) links_.push_back({to, from, i, weight});
    }
  }

  std::vector<Arrival> next_layer() const {
    const std::vector<Arrival>& before = layers_.back();
    std::vector<Arrival> layer(before.size());
    for (const Link& link : links_) {
      const double score = before[link.from].score * expand_.decay * link.weight;
      if (score > layer[link.to].score) layer[link.to] = {score, link.from, link.edge};
    }
    return layer;
  }

  const Traversal& found_;
  const Expansion& expand_;
  std::unordered_map<DocId, std::size_t> places_;
  std::vector<Link> links_;
  std::vector<std::vector<Arrival>> layers_;
};

}  // namespace

std::vector<Seed> seeds_of(const GraphStart& start) {
  std::vector<Seed> seeds;
  std::set<DocId> seen;
  for (const DocId& id : start.from) {
    if (seen.insert(id).second) seeds.push_back({.id = id, .score = 1});
  }
  return seeds;
}

TraverseRequest walk_from(std::span<const Seed> seeds, const Expansion& expand,
                          const Scope& scope) {
  TraverseRequest request{
      .direction = expand.direction, .filter = expand.edges, .hops = expand.hops};
  if (!request.filter.as_of) request.filter.as_of = scope.as_of;
  for (const Seed& seed : seeds) request.from.push_back(seed.id);
  return request;
}

std::vector<Neighbour> spread(const Traversal& found, std::span<const Seed> seeds,
                              const Expansion& expand) {
  Spreader spreader(found, expand);
  spreader.run(seeds);
  std::vector<Neighbour> neighbours;
  for (std::size_t node = 0; node < found.nodes.size(); ++node) {
    if (auto one = spreader.neighbour(node)) neighbours.push_back(std::move(*one));
  }
  return neighbours;
}

// The share of the links is the score that they add to the hit's own.
void lift(ShardHit& hit, Neighbour neighbour, std::uint32_t rank) {
  hit.legs.push_back({.leg = LegKind::kGraph,
                      .score = neighbour.score,
                      .share = neighbour.score - hit.score,
                      .rank = rank});
  hit.score = neighbour.score;
  hit.trace = std::move(neighbour.trace);
}

}  // namespace kin::index
