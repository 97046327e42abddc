#include "router/calls/places.h"

#include <map>
#include <optional>
#include <unordered_set>

namespace kin::router {
namespace {

std::vector<Claim>& items(ClaimRequest& request) {
  return request.claims;
}
std::vector<Locate>& items(LocateRequest& request) {
  return request.entities;
}

// A place that nobody has to be asked about. Without centroids entities are placed by their ids.
std::optional<index::PartitionId> place_of(const Shards& shards, const KnownPointer& known,
                                           const DocId& id) {
  if (!known->map.centroids) return known->map.home_of(id);
  const auto place = shards.place(known, id);
  // A partition of a newer map.
  if (place && static_cast<std::size_t>(*place) >= known->map.partitions.size()) return {};
  return place;
}

// Asks the owners of the home partitions. `all` has every id once.
template <typename Asked, typename Item>
void ask_directory(Shards& shards, const KnownPointer& known, const std::vector<Item>& all,
                   const Limits& limits, PlacesFound& found) {
  std::map<std::uint32_t, Asked> by_shard;
  for (const Item& item : all) items(by_shard[known->map.shard_of(item.home)]).push_back(item);
  std::vector<Ask<Asked>> asks;
  for (auto& [shard, request] : by_shard) asks.push_back({shard, std::move(request)});
  auto told = shards.ask(known, asks, limits);
  for (std::size_t a = 0; a < asks.size(); ++a) {
    const auto& asked = items(asks[a].request);
    found.map_changed = found.map_changed || told[a].map_changed;
    Result<Places>& reply = told[a].reply;
    if (reply.ok() && reply->partitions.size() != asked.size())
      reply = Error{Code::kInternal, "a shard answered about other entities than it was asked"};
    if (!reply.ok()) {
      found.problems.push_back(shards.problem(known, asks[a].shard, reply.error()));
      for (const auto& item : asked) found.unknown.emplace(item.id, reply.error());
      continue;
    }
    for (std::size_t i = 0; i < asked.size(); ++i) {
      const auto& place = reply->partitions[i];
      if (!place) continue;
      if (static_cast<std::size_t>(*place) >= known->map.partitions.size()) {
        found.map_changed = true;
        found.unknown.emplace(
            asked[i].id, Error{Code::kUnavailable, "the entity is in a partition of a newer map"});
        continue;
      }
      found.places.emplace(asked[i].id, *place);
      shards.remember(known, asked[i].id, *place);
    }
  }
}

}  // namespace

PlacesFound locate(Shards& shards, const KnownPointer& known, std::span<const DocId> ids,
                   const Limits& limits) {
  PlacesFound found;
  std::vector<Locate> unknown;
  std::unordered_set<DocId> asked;
  for (const DocId& id : ids) {
    if (const auto place = place_of(shards, known, id))
      found.places.emplace(id, *place);
    else if (asked.insert(id).second)
      unknown.push_back({.id = id, .home = known->map.home_of(id)});
  }
  ask_directory<LocateRequest>(shards, known, unknown, limits, found);
  return found;
}

PlacesFound claim(Shards& shards, const KnownPointer& known, std::span<const Wanted> wanted,
                  SteadyTime deadline) {
  PlacesFound found;
  std::vector<Claim> unknown;
  std::unordered_set<DocId> asked;
  for (const Wanted& one : wanted) {
    if (const auto place = place_of(shards, known, one.id))
      found.places.emplace(one.id, *place);
    else if (asked.insert(one.id).second)
      unknown.push_back(
          {.id = one.id, .home = known->map.home_of(one.id), .partition = one.partition});
  }
  ask_directory<ClaimRequest>(shards, known, unknown, {deadline}, found);
  return found;
}

}  // namespace kin::router
