// Reads entities by their ids.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "router/calls/places.h"
#include "router/calls/shards.h"

namespace kin::router {

// What a request asks for, by id: stored entities, or these with what is said about them.
template <typename Asked>
using PartsOf = std::remove_cvref_t<decltype(std::declval<typename Asked::Reply>().entities)>;

// `Asked` is GetRequest or AboutRequest. In the order of `ids`. Nothing if the map has changed.
template <typename Asked>
Result<std::optional<PartsOf<Asked>>> read_entities(Shards& shards, const KnownPointer& known,
                                                    std::span<const DocId> ids,
                                                    const index::Want& want, const Limits& limits) {
  using Found = PartsOf<Asked>;
  const PlacesFound places = locate(shards, known, ids, limits);
  if (places.map_changed) return std::optional<Found>();
  if (!places.problems.empty())
    return with_context(places.problems[0].address, places.problems[0].error);
  std::map<std::uint32_t, std::pair<Asked, std::vector<std::size_t>>> by_shard;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto place = places.places.find(ids[i]);
    if (place == places.places.end()) continue;
    auto& [request, indexes] = by_shard[known->map.shard_of(place->second)];
    request.ids.push_back(ids[i]);
    request.partitions.insert(place->second);
    request.want = want;
    indexes.push_back(i);
  }
  std::vector<Ask<Asked>> asks;
  for (const auto& [shard, one] : by_shard) asks.push_back({shard, one.first});
  auto told = shards.ask(known, asks, limits);
  Found found(ids.size());
  for (std::size_t a = 0; a < asks.size(); ++a) {
    if (told[a].map_changed) return std::optional<Found>();
    if (!told[a].reply.ok())
      return with_context(known->map.shards[asks[a].shard], told[a].reply.error());
    auto& parts = told[a].reply->entities;
    const auto& indexes = by_shard.at(asks[a].shard).second;
    for (std::size_t i = 0; i < indexes.size() && i < parts.size(); ++i)
      found[indexes[i]] = std::move(parts[i]);
  }
  return std::optional(std::move(found));
}

}  // namespace kin::router
