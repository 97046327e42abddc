#include "router/query/showing.h"

#include <map>

namespace kin::router {
namespace {

// A request to one shard, and the places of its documents among all.
struct Part {
  PresentRequest request = {};
  std::vector<std::size_t> places = {};
};

std::map<std::uint32_t, Part> by_shard(const ShardMap& map, std::span<const index::ShardHit> hits,
                                       const Show& show, const index::TextStatistics* statistics) {
  std::map<std::uint32_t, Part> parts;
  for (std::size_t i = 0; i < hits.size(); ++i) {
    const auto shard = static_cast<std::uint32_t>(hits[i].shard);
    Part& part = parts[shard];
    if (part.places.empty()) {
      part.request = {.partitions = map.partitions_of(shard),
                      .text = show.text,
                      .snippets = show.snippets,
                      .explain = show.explain};
      if (show.explain && statistics != nullptr) part.request.statistics = *statistics;
    }
    part.request.documents.push_back(hits[i].doc);
    part.places.push_back(i);
  }
  return parts;
}

}  // namespace

Result<std::optional<Presented>> read_shown(Shards& shards, const KnownPointer& known,
                                            std::span<const index::ShardHit> hits, const Show& show,
                                            const Limits& limits,
                                            const index::TextStatistics* statistics) {
  const auto parts = by_shard(known->map, hits, show, statistics);
  std::vector<Ask<PresentRequest>> asks;
  for (const auto& [shard, part] : parts) asks.push_back({shard, part.request});
  auto told = shards.ask(known, asks, limits);
  Presented all;
  all.documents.resize(hits.size());
  all.snippets.resize(hits.size());
  all.explanations.resize(hits.size());
  for (std::size_t a = 0; a < asks.size(); ++a) {
    if (told[a].map_changed) return std::optional<Presented>();
    if (!told[a].reply.ok())
      return with_context(known->map.shards[asks[a].shard], told[a].reply.error());
    Presented& shown = *told[a].reply;
    const auto& places = parts.at(asks[a].shard).places;
    for (std::size_t i = 0; i < places.size() && i < shown.documents.size(); ++i) {
      all.documents[places[i]] = std::move(shown.documents[i]);
      if (i < shown.snippets.size()) all.snippets[places[i]] = std::move(shown.snippets[i]);
      if (i < shown.explanations.size())
        all.explanations[places[i]] = std::move(shown.explanations[i]);
    }
  }
  return std::optional(std::move(all));
}

}  // namespace kin::router
