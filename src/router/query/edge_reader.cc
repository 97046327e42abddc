#include "router/query/edge_reader.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace kin::router {

Error EdgeReader::failed(std::uint32_t shard, const Error& error) const {
  return with_context(known_->map.shards[shard], error);
}

Result<PlacesFound> EdgeReader::places(std::span<const DocId> ids) {
  PlacesFound found = locate(shards_, known_, ids, limits_);
  map_changed_ = map_changed_ || found.map_changed;
  if (!found.problems.empty()) return failed(found.problems[0].shard, found.problems[0].error);
  return found;
}

Status EdgeReader::add(const std::vector<Ask<EdgesRequest>>& asks,
                       const std::vector<std::vector<std::size_t>>& nodes, Lists& lists) {
  auto told = shards_.ask(known_, asks, limits_);
  for (std::size_t a = 0; a < asks.size(); ++a) {
    map_changed_ = map_changed_ || told[a].map_changed;
    if (!told[a].reply.ok()) return failed(asks[a].shard, told[a].reply.error());
    auto& found = told[a].reply->edges;
    if (found.size() != nodes[a].size())
      return failed(asks[a].shard, {Code::kInternal, "a shard answered about other nodes"});
    for (std::size_t i = 0; i < found.size(); ++i)
      std::ranges::move(found[i], std::back_inserter(lists[nodes[a][i]]));
  }
  return Done{};
}

Status EdgeReader::add_out(std::span<const DocId> nodes, std::size_t limit, Lists& lists) {
  KIN_TRY(const PlacesFound found, places(nodes));
  std::map<std::uint32_t, std::pair<EdgesRequest, std::vector<std::size_t>>> by_shard;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto place = found.places.find(nodes[i]);
    if (place == found.places.end()) continue;  // nobody ever put it: nothing leaves it
    auto& [request, indexes] = by_shard[known_->map.shard_of(place->second)];
    request.nodes.push_back(nodes[i]);
    request.partitions.insert(place->second);
    indexes.push_back(i);
  }
  std::vector<Ask<EdgesRequest>> asks;
  std::vector<std::vector<std::size_t>> indexes;
  for (auto& [shard, one] : by_shard) {
    one.first.filter = filter_;
    one.first.limit = limit;
    asks.push_back({shard, std::move(one.first)});
    indexes.push_back(std::move(one.second));
  }
  return add(asks, indexes, lists);
}

Status EdgeReader::add_in(std::span<const DocId> nodes, std::size_t limit, Lists& lists) {
  Lists incoming(nodes.size());
  std::vector<Ask<EdgesRequest>> asks;
  std::vector<std::size_t> all(nodes.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
  for (std::uint32_t shard = 0; shard < known_->map.shards.size(); ++shard) {
    EdgesRequest request{.nodes = {nodes.begin(), nodes.end()},
                         .direction = index::Direction::kIn,
                         .filter = filter_,
                         .limit = limit,
                         .partitions = known_->map.partitions_of(shard)};
    if (!request.partitions.empty()) asks.push_back({shard, std::move(request)});
  }
  KIN_RETURN_IF_ERROR(add(asks, std::vector(asks.size(), all), incoming));
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    std::ranges::sort(incoming[i], {}, [](const index::GraphEdge& edge) {
      return std::tie(edge.id.name, edge.id.from, edge.id.since);
    });
    std::ranges::move(incoming[i], std::back_inserter(lists[i]));
  }
  return Done{};
}

Result<EdgeReader::Lists> EdgeReader::edges(std::span<const DocId> nodes,
                                            index::Direction direction, std::size_t limit) {
  Lists lists(nodes.size());
  if (nodes.empty()) return lists;
  if (direction != index::Direction::kIn) KIN_RETURN_IF_ERROR(add_out(nodes, limit, lists));
  // The order of names differs between shards, so it is made the same here.
  for (auto& list : lists) {
    std::ranges::sort(list, {}, [](const index::GraphEdge& edge) {
      return std::tie(edge.id.name, edge.id.to, edge.id.since);
    });
  }
  if (direction != index::Direction::kOut) KIN_RETURN_IF_ERROR(add_in(nodes, limit, lists));
  for (auto& list : lists) {
    if (list.size() > limit) list.resize(limit);
  }
  return lists;
}

Result<std::vector<bool>> EdgeReader::exist(std::span<const DocId> ids) {
  std::vector<bool> there(ids.size(), false);
  if (ids.empty()) return there;
  KIN_TRY(const PlacesFound found, places(ids));
  std::map<std::uint32_t, std::pair<HeadsRequest, std::vector<std::size_t>>> by_shard;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto place = found.places.find(ids[i]);
    if (place == found.places.end()) continue;
    auto& [request, indexes] = by_shard[known_->map.shard_of(place->second)];
    request.ids.push_back(ids[i]);
    request.partitions.insert(place->second);
    indexes.push_back(i);
  }
  std::vector<Ask<HeadsRequest>> asks;
  for (auto& [shard, one] : by_shard) asks.push_back({shard, one.first});
  auto told = shards_.ask(known_, asks, limits_);
  for (std::size_t a = 0; a < asks.size(); ++a) {
    map_changed_ = map_changed_ || told[a].map_changed;
    if (!told[a].reply.ok()) return failed(asks[a].shard, told[a].reply.error());
    const auto& heads = told[a].reply->heads;
    const auto& indexes = by_shard.at(asks[a].shard).second;
    for (std::size_t i = 0; i < indexes.size() && i < heads.size(); ++i) {
      there[indexes[i]] = heads[i] && (!filter_.as_of || heads[i]->valid.holds_at(*filter_.as_of));
    }
  }
  return there;
}

}  // namespace kin::router
