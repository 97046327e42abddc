#include "index/shard/expand.h"

#include <algorithm>

namespace kin::index {
namespace {

Status add_numbers(const ShardView& view, std::vector<Neighbour>& neighbours) {
  std::vector<DocId> ids;
  for (const Neighbour& one : neighbours) ids.push_back(one.id);
  KIN_TRY(const auto heads, view.truth().heads(ids));
  std::vector<Neighbour> kept;
  for (std::size_t i = 0; i < heads.size(); ++i) {
    if (!heads[i]) continue;
    neighbours[i].number = static_cast<std::uint32_t>(heads[i]->number);
    kept.push_back(std::move(neighbours[i]));
  }
  neighbours = std::move(kept);
  return Done{};
}

}  // namespace

Result<std::vector<Neighbour>> neighbours_of(const ShardView& view, std::span<const Seed> seeds,
                                             const Expansion& expand, const Scope& scope) {
  // Missing documents are skipped, so every node of the traversal has a head.
  TraverseRequest request = walk_from(seeds, expand, scope);
  request.partitions = scope.partitions;
  KIN_TRY(const Traversal found, traverse(view.truth(), request));
  std::vector<Neighbour> neighbours = spread(found, seeds, expand);
  KIN_RETURN_IF_ERROR(add_numbers(view, neighbours));
  std::ranges::sort(neighbours, [](const Neighbour& a, const Neighbour& b) {
    return a.score != b.score ? a.score > b.score : a.number < b.number;
  });
  return neighbours;
}

}  // namespace kin::index
