#include "dedup/groups/component.h"

#include <algorithm>
#include <tuple>

namespace kin::dedup {
namespace {

// The records of `edges`, each once, sorted. Uses little extra memory.
std::vector<RecordId> records_of(std::span<const Edge> edges) {
  std::vector<RecordId> sorted;
  std::size_t next_cleaning = std::size_t{1} << 16;
  const auto clean = [&] {
    std::sort(sorted.begin(), sorted.end());
    sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
    next_cleaning = std::max(next_cleaning, 2 * sorted.size());
  };
  for (const Edge& edge : edges) {
    for (const RecordId record : {edge.a, edge.b}) sorted.push_back(record);
    if (sorted.size() >= next_cleaning) clean();
  }
  clean();
  return sorted;
}

}  // namespace

bool by_rank(const Edge& x, const Edge& y) {
  // Cast, and thereby copied: a packed member cannot be bound to a reference, as a tuple would do.
  const auto key = [](const Edge& link) {
    return std::tuple(RecordId{link.a}, RecordId{link.b}, Method{link.method});
  };
  return key(x) < key(y);
}

Component rank(std::span<Edge> edges, const KeepOrder& order) {
  Component component;
  const std::vector<RecordId> sorted = records_of(edges);
  component.records = sorted;
  std::sort(component.records.begin(), component.records.end(),
            [&](RecordId a, RecordId b) { return a != b && order.better(a, b); });
  std::vector<std::uint32_t> ranks(sorted.size());
  const auto position = [&](RecordId id) {
    return static_cast<std::size_t>(std::lower_bound(sorted.begin(), sorted.end(), id) -
                                    sorted.begin());
  };
  for (std::uint32_t i = 0; i < component.records.size(); ++i)
    ranks[position(component.records[i])] = i;
  for (Edge& edge : edges) {
    const auto [better, worse] = std::minmax(ranks[position(edge.a)], ranks[position(edge.b)]);
    edge.a = record_id(better);
    edge.b = record_id(worse);
  }
  std::sort(edges.begin(), edges.end(), by_rank);
  component.links = edges;
  return component;
}

}  // namespace kin::dedup
