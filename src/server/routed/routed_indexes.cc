#include "server/routed/routed_indexes.h"

#include <fmt/format.h>

#include "embed/corpus_model.h"
#include "router/grow.h"
#include "router/lease.h"
#include "router/move.h"
#include "router/repartition.h"
#include "search/embedding.h"
#include "server/routed/learning.h"
#include "server/routed/measured_client.h"
#include "server/tenants/names.h"

namespace kin::server {
namespace {

std::string settings_key(const std::string& name) {
  return "settings/" + name;
}

constexpr std::chrono::milliseconds kPause{50};  // before a node is asked again

Error no_index(const std::string& name) {
  return {Code::kNotFound, fmt::format("there is no index \"{}\"", name)};
}

// What the map of an index was, until all nodes have removed its shards.
std::string dropped_key(const std::string& name) {
  return "dropped/" + name;
}

std::string_view name_of(router::FollowerAsked why) {
  switch (why) {
    case router::FollowerAsked::kSlow: return "slow";
    case router::FollowerAsked::kSilent: return "silent";
    case router::FollowerAsked::kAway: return "away";
  }
  KIN_UNREACHABLE();
}

// Stands for a node whose address in a map is not one.
class NoClient final : public router::ShardClient {
 public:
  explicit NoClient(Error why) : why_(std::move(why)) {}
  router::Started<router::Response> start(router::Request, const router::CallOptions&) override {
    return router::Started<router::Response>(
        [why = why_]() -> router::Reply<router::Response> { return why; });
  }

 private:
  Error why_;
};

}  // namespace

Result<std::shared_ptr<rpc::NodeConnection>> RoutedIndexes::connection(const std::string& address) {
  const std::lock_guard lock(mutex_);
  auto& known = connections_[address];
  if (!known) {
    KIN_TRY(known, rpc::NodeConnection::open(address, options_.connection));
  }
  return known;
}

router::Connect RoutedIndexes::connect_to(const std::string& name) {
  return [this, name](const std::string& address) -> std::shared_ptr<router::ShardClient> {
    auto node = connection(address);
    if (!node) return std::make_shared<NoClient>(node.error());
    auto client = std::make_shared<rpc::GrpcClient>(std::move(*node), name);
    if (options_.metrics == nullptr) return client;
    return std::make_shared<MeasuredClient>(std::move(client), address, *options_.metrics,
                                            *options_.routing.clock);
  };
}

Result<std::vector<std::string>> RoutedIndexes::names() {
  const std::string prefix = router::map_key("");
  KIN_TRY(const auto maps, meta_.watch(prefix, 0, options_.routing.clock->steady_now()));
  std::vector<std::string> names;
  for (const router::MetaEntry& entry : maps.entries) {
    if (!entry.value) continue;
    names.push_back(entry.key.substr(prefix.size()));
    forget_unless(names.back(), &*entry.value);
  }
  return names;
}

Result<std::optional<router::ShardMap>> RoutedIndexes::map_of(const std::string& name) {
  KIN_TRY(const auto value, meta_.get(router::map_key(name)));
  if (!value) return std::optional<router::ShardMap>();
  KIN_TRY(router::ShardMap map, router::decode_shard_map(value->bytes));
  if (map.settings.empty()) {  // an older map
    KIN_TRY(const auto apart, meta_.get(settings_key(name)));
    if (!apart) return std::optional<router::ShardMap>();
    map.settings = apart->bytes;
  }
  return std::optional(std::move(map));
}

Result<std::shared_ptr<const embed::Embedder>> RoutedIndexes::embedder_of(
    const router::ShardMap& map, const search::IndexConfig& config) {
  if (config.embed.is_opened_by_name())
    return search::open_embedder(config, options_.embedders, search::Use::kExisting);
  if (!config.model) return std::shared_ptr<const embed::Embedder>();
  const auto bytes =
      router::read_blob(connect_to(map.index), map, *config.model, options_.routing);
  if (!bytes.ok())
    return with_context("the model of the index cannot be read from any node", bytes.error());
  KIN_TRY(auto model, embed::CorpusModel::decode(*bytes));
  return std::shared_ptr<const embed::Embedder>(std::move(model));
}

Status RoutedIndexes::create(const std::string& name, const Creation& creation) {
  KIN_RETURN_IF_ERROR(check_full_name(name));
  if (options_.nodes.empty())
    return Error{Code::kFailedPrecondition, "the router has no nodes (use --node ADDRESS)"};
  const std::lock_guard creating(creating_);
  KIN_TRY(const auto map, meta_.get(router::map_key(name)));
  if (map)
    return Error{Code::kFailedPrecondition, fmt::format("there is an index \"{}\" already", name)};
  KIN_RETURN_IF_ERROR(finish_drop(name));
  KIN_TRY(Learnt learnt, learn(creation.config, creation.sample,
                               {.partitions = creation.partitions,
                                .shards = options_.nodes.size(),
                                .embedders = options_.embedders}));
  KIN_TRY([[maybe_unused]] const auto options, search::node_shard_options(learnt.config));
  const std::string settings = search::encode(learnt.config);
  for (const std::string& address : options_.nodes) {
    KIN_TRY(const auto node, connection(address));
    KIN_RETURN_IF_ERROR(node->create_index({.name = name, .settings = settings}));
  }
  router::NewIndex made{
      .map = learnt.centroids
                 ? router::spread_partitions(name, options_.nodes, *learnt.centroids)
                 : router::spread_partitions(name, options_.nodes, creation.partitions),
      .centroids = std::move(learnt.centroids)};
  KIN_TRY(made.map.identities,
          router::read_identities(connect_to(name), made.map.shards, options_.routing));
  made.map.settings = settings;
  // Before the map: an index that exists has its copies.
  if (options_.followers > 0) {
    KIN_TRY([[maybe_unused]] const auto copies,
            list_followers(made.map, options_.nodes, options_.followers, meta_));
  }
  if (learnt.model) made.blobs.push_back(std::move(*learnt.model));
  // Of several routers that make the index at once, one writes the map.
  return router::create_index(meta_, connect_to(name), std::move(made), options_.routing);
}

Result<std::vector<router::Follower>> RoutedIndexes::list_followers(
    const router::ShardMap& map, const std::vector<std::string>& nodes, std::size_t count,
    router::MetaStore& meta) {
  for (;;) {
    KIN_TRY(const router::Followers now, router::read_followers(meta, map.index));
    KIN_TRY(auto plan, router::plan_followers(map, nodes, count, now));
    if (plan == now.copies) return plan;
    KIN_TRY(const bool written, router::swap_followers(meta, map.index, now, plan));
    if (written) return plan;
  }
}

Result<std::vector<router::Follower>> RoutedIndexes::set_followers(const std::string& name,
                                                                   std::size_t count,
                                                                   router::MetaStore& meta) {
  const std::lock_guard creating(creating_);
  KIN_TRY(const auto map, map_of(name));
  if (!map) return no_index(name);
  std::vector<std::string> nodes = options_.nodes;
  nodes.insert(nodes.end(), map->shards.begin(), map->shards.end());
  return list_followers(*map, nodes, count, meta);
}

Status RoutedIndexes::add_node(const std::string& name, const std::string& address,
                               router::MetaStore& meta) {
  const std::lock_guard creating(creating_);
  KIN_TRY(const auto map, map_of(name));
  if (!map) return no_index(name);
  KIN_TRY(const search::IndexConfig config, search::decode_config(map->settings));
  KIN_TRY(const auto node, connection(address));
  KIN_RETURN_IF_ERROR(node->create_index({.name = name, .settings = map->settings}));
  std::vector<Hash128> blobs;
  if (config.model) blobs.push_back(*config.model);
  KIN_TRY([[maybe_unused]] const std::uint32_t place,
          router::add_shard(meta, connect_to(name), name, address, std::move(blobs),
                            options_.routing));
  return Done{};
}

Status RoutedIndexes::drop(const std::string& name) {
  KIN_RETURN_IF_ERROR(check_full_name(name));
  const std::lock_guard creating(creating_);
  KIN_TRY(const auto map, meta_.get(router::map_key(name)));
  KIN_TRY(const auto mark, meta_.get(dropped_key(name)));
  if (!map && !mark) return no_index(name);
  if (map) {
    // First the mark: the shards are known until they are removed, whenever this process ends.
    KIN_TRY(const auto marked,
            meta_.swap(dropped_key(name), mark ? mark->revision : 0, map->bytes));
    const Error changed{Code::kUnavailable, "the map of the index changed meanwhile; try again"};
    if (!marked) return changed;
    KIN_TRY(const auto removed, meta_.swap(router::map_key(name), map->revision, std::nullopt));
    if (!removed) return changed;
    const std::lock_guard lock(mutex_);
    opened_.erase(name);
  }
  return finish_drop(name);
}

Status RoutedIndexes::finish_drop(const std::string& name) {
  KIN_TRY(const auto mark, meta_.get(dropped_key(name)));
  if (!mark) return Done{};
  KIN_TRY(const router::ShardMap map, router::decode_shard_map(mark->bytes));
  for (std::uint32_t shard = 0; shard < map.shards.size(); ++shard)
    KIN_RETURN_IF_ERROR(drop_shard(map, shard));
  KIN_RETURN_IF_ERROR(router::forget_followers(meta_, name));
  KIN_RETURN_IF_ERROR(router::forget_leases(meta_, name));
  // Before there can be another index of the name, whose partitions they would move.
  KIN_RETURN_IF_ERROR(router::forget_moves(meta_, name));
  KIN_RETURN_IF_ERROR(router::forget_repartition(meta_, name));
  // Another router may have done the same.
  KIN_TRY([[maybe_unused]] const auto removed,
          meta_.swap(dropped_key(name), mark->revision, std::nullopt));
  return Done{};
}

Result<std::string> RoutedIndexes::owner_of(const router::ShardMap& map, std::uint32_t shard) {
  KIN_TRY(const auto value, meta_.get(router::lease_key(map.index, map.identity_of(shard))));
  if (!value) return map.shards[shard];
  KIN_TRY(const router::LeaseRecord lease, router::decode_lease(value->bytes));
  return lease.address;
}

// If its node is gone, a follower takes the shard over and drops it.
Status RoutedIndexes::drop_shard(const router::ShardMap& map, std::uint32_t shard) {
  Clock& clock = *options_.routing.clock;
  const SteadyTime end = clock.steady_now() + options_.routing.timeout;
  for (;;) {
    KIN_TRY(const std::string owner, owner_of(map, shard));
    KIN_TRY(const auto node, connection(owner));
    const Status dropped = node->drop_index(map.index, map.identity_of(shard));
    // Without its lease nobody takes it over any more.
    if (dropped.ok()) return router::forget_lease(meta_, map.index, map.identity_of(shard));
    if (dropped.error().code != Code::kUnavailable || clock.steady_now() >= end) return dropped;
    clock.sleep_for(kPause);
  }
}

bool RoutedIndexes::forget_unless(const std::string& name, const router::MetaValue* map) {
  const std::lock_guard lock(mutex_);
  const auto known = opened_.find(name);
  if (known == opened_.end()) return false;
  Opened& found = known->second;
  if (map != nullptr && found.revision != map->revision) {
    const auto decoded = router::decode_shard_map(map->bytes);
    if (decoded && decoded->identity_of(0) == found.first) found.revision = map->revision;
  }
  if (map != nullptr && found.revision == map->revision) return false;
  opened_.erase(known);
  return true;
}

Result<bool> RoutedIndexes::forget_if_gone(const std::string& name) {
  KIN_TRY(const auto map, meta_.get(router::map_key(name)));
  return forget_unless(name, map ? &*map : nullptr);
}

Result<std::shared_ptr<RoutedIndex>> RoutedIndexes::open(const std::string& name) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = opened_.find(name); known != opened_.end()) return known->second.index;
  }
  KIN_RETURN_IF_ERROR(check_full_name(name));
  KIN_TRY(const auto map, map_of(name));
  if (!map) return no_index(name);
  KIN_TRY(search::IndexConfig config, search::decode_config(map->settings));
  KIN_TRY(const index::ShardOptions shard, search::node_shard_options(config));
  router::RouterOptions routing = options_.routing;
  routing.text = index::text_options(shard);
  routing.near_duplicates = config.dedup;
  if (options_.metrics != nullptr)
    routing.on_follower = [&metrics = *options_.metrics, name](router::FollowerAsked why,
                                                               router::FollowerEvent event) {
      if (event == router::FollowerEvent::kAsked)
        metrics.asked_follower(name, name_of(why));
      else
        metrics.follower_answered(name, name_of(why));
    };
  KIN_TRY(auto router, router::Router::open(name, meta_, connect_to(name), routing));
  KIN_TRY(auto embedder, embedder_of(*map, config));
  const std::lock_guard lock(mutex_);
  Opened& opened = opened_[name];
  if (!opened.index)
    opened = {.index = std::make_shared<RoutedIndex>(std::move(config), std::move(router),
                                                     std::move(embedder), *options_.routing.clock),
              .first = map->identity_of(0)};
  return opened.index;
}

void RoutedIndexes::count_read(RoutedIndex& index, const router::Staleness& staleness) const {
  if (staleness.behind && options_.metrics != nullptr)
    options_.metrics->read_stale(index.shards().map().index, *staleness.behind);
}

Result<RoutedIndexes::Storage> RoutedIndexes::storage(const std::string& prefix) {
  KIN_TRY(const auto all, names());
  Storage sum;
  for (const std::string& name : all) {
    if (!name.starts_with(prefix)) continue;
    KIN_TRY(const auto index, open(name));
    const router::ShardMap map = index->shards().map();
    const auto stats = index->shards().stats();
    for (std::uint32_t shard = 0; shard < stats.size(); ++shard) {
      // A node that was drained may be gone.
      if (!stats[shard].ok() && map.partitions_of(shard).empty()) continue;
      if (!stats[shard].ok()) return stats[shard].error();
      const index::ShardStats& one = stats[shard]->stats;
      sum.entities += one.counters.entities;
      sum.bytes += one.truth.disk_bytes + one.text_bytes;
    }
  }
  return sum;
}

}  // namespace kin::server
