#include "server/api/routed_json.h"

#include <algorithm>

#include "search/info_json.h"

namespace kin::server {
namespace {

void add_space(const index::SpaceStats& from, std::vector<index::SpaceStats>& all) {
  const auto known = std::ranges::find(all, from.name, &index::SpaceStats::name);
  if (known == all.end()) {
    all.push_back(from);
    return;
  }
  known->vectors.vectors += from.vectors.vectors;
  known->vectors.pending += from.vectors.pending;
  known->vectors.cells += from.vectors.cells;
  known->vectors.bytes += from.vectors.bytes;
  known->building = std::min(known->building, from.building);
}

// Sums over the shards that answer.
index::ShardStats sum_of(const std::vector<Result<router::StatsReply>>& replies) {
  index::ShardStats all;
  for (const auto& reply : replies) {
    if (!reply) continue;
    const index::ShardStats& one = reply->stats;
    all.counters.entities += one.counters.entities;
    all.counters.edges += one.counters.edges;
    all.counters.fragments += one.counters.fragments;
    all.text_bytes += one.text_bytes;
    all.truth.disk_bytes += one.truth.disk_bytes;
    for (const index::SpaceStats& space : one.spaces) add_space(space, all.spaces);
  }
  return all;
}

search::IndexInfo info_of(const RoutedIndex& index, index::ShardStats stats) {
  search::IndexInfo info{.config = index.config(), .stats = std::move(stats)};
  info.by_meaning = index.makes_vectors();
  info.dimension = info.config.main.dimension;
  for (const index::SpaceStats& space : info.stats.spaces) info.building |= space.building < 1;
  info.disk_bytes = info.stats.truth.disk_bytes + info.stats.text_bytes;
  return info;
}

void write_shard(JsonWriter& json, const std::string& address, std::size_t owned,
                 const Result<router::Health>& health) {
  json.begin_object().field("address", address);
  json.field("partitions", static_cast<std::uint64_t>(owned));
  if (health)
    json.field("last_lsn", health->last_lsn).field("epoch", health->epoch);
  else
    json.field("problem", health.error().message);
  json.end();
}

void write_stats(JsonWriter& json, const index::ShardStats& stats) {
  json.field("entities", stats.counters.entities).field("edges", stats.counters.edges);
  json.field("fragments", stats.counters.fragments).field("text_documents", stats.text_documents);
  json.field("disk_bytes", stats.truth.disk_bytes).field("text_bytes", stats.text_bytes);
  std::uint64_t vectors = 0, pending = 0;
  for (const index::SpaceStats& space : stats.spaces) {
    vectors += space.vectors.vectors;
    pending += space.vectors.pending;
  }
  json.field("vectors", vectors).field("pending_vectors", pending);
  json.field("last_lsn", stats.last_lsn).field("checkpoint_lsn", stats.checkpoint_lsn);
}

// The value of a partition; 0 if the map does not name it.
template <typename Map>
auto value_in(const Map& map, std::uint32_t partition) -> typename Map::mapped_type {
  const auto found = map.find(index::PartitionId{partition});
  return found == map.end() ? typename Map::mapped_type{} : found->second;
}

}  // namespace

void write_routed_index(JsonWriter& json, const std::string& name, RoutedIndex& index) {
  const auto health = index.shards().health();
  const router::ShardMap map = index.shards().map();
  const search::IndexInfo info = info_of(index, sum_of(index.shards().stats()));
  json.begin_object();
  search::write_info_fields(json, name, info);
  json.field("text_bytes", info.stats.text_bytes).field("epoch", map.epoch);
  json.field("partitions", static_cast<std::uint64_t>(map.partitions.size()));
  json.key("shards").begin_array();
  // A shard that joined since it was not asked is shown the next time.
  for (std::uint32_t shard = 0; shard < std::min(map.shards.size(), health.size()); ++shard)
    write_shard(json, map.shards[shard], map.partitions_of(shard).size(), health[shard]);
  json.end().end();
}

std::string shards_json(RoutedIndex& index) {
  const auto stats = index.shards().stats({.sizes = true});
  const router::ShardMap map = index.shards().map();
  JsonWriter json;
  json.begin_object().field("epoch", map.epoch).key("shards").begin_array();
  // A shard may have joined since, and have partitions already.
  const auto knows = [&](std::uint32_t shard) { return shard < stats.size() && stats[shard].ok(); };
  for (std::uint32_t shard = 0; shard < map.shards.size(); ++shard) {
    json.begin_object().field("address", map.shards[shard]);
    if (knows(shard))
      write_stats(json, stats[shard]->stats);
    else
      json.field("problem", shard < stats.size() ? stats[shard].error().message : "not asked yet");
    json.end();
  }
  json.end().key("partitions").begin_array();
  for (std::uint32_t number = 0; number < map.partitions.size(); ++number) {
    const std::uint32_t shard = map.partitions[number].shard;
    json.begin_object().field("partition", number).field("shard", shard);
    if (knows(shard))
      json.field("entities", value_in(stats[shard]->sizes, number))
          .field("load", value_in(stats[shard]->loads, number));
    else
      json.key("entities").null().key("load").null();
    json.end();
  }
  return json.end().end().take();
}

}  // namespace kin::server
