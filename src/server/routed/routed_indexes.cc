#include "server/routed/routed_indexes.h"

#include <fmt/format.h>

#include "embed/corpus_model.h"
#include "search/embedding.h"
#include "server/routed/learning.h"
#include "server/routed/measured_client.h"
#include "server/tenants/names.h"

namespace kin::server {
namespace {

std::string settings_key(const std::string& name) {
  return "settings/" + name;
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
    if (entry.value) names.push_back(entry.key.substr(prefix.size()));
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
      .map = router::spread_partitions(name, options_.nodes, creation.partitions),
      .centroids = std::move(learnt.centroids)};
  KIN_TRY(made.map.identities,
          router::read_identities(connect_to(name), made.map.shards, options_.routing));
  made.map.settings = settings;
  if (learnt.model) made.blobs.push_back(std::move(*learnt.model));
  // Of several routers that make the index at once, one writes the map.
  return router::create_index(meta_, connect_to(name), std::move(made), options_.routing);
}

Result<std::shared_ptr<RoutedIndex>> RoutedIndexes::open(const std::string& name) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = opened_.find(name); known != opened_.end()) return known->second;
  }
  KIN_RETURN_IF_ERROR(check_full_name(name));
  KIN_TRY(const auto map, map_of(name));
  if (!map) return Error{Code::kNotFound, fmt::format("there is no index \"{}\"", name)};
  KIN_TRY(search::IndexConfig config, search::decode_config(map->settings));
  KIN_TRY(const index::ShardOptions shard, search::node_shard_options(config));
  router::RouterOptions routing = options_.routing;
  routing.text = index::text_options(shard);
  routing.near_duplicates = config.dedup;
  KIN_TRY(auto router, router::Router::open(name, meta_, connect_to(name), routing));
  KIN_TRY(auto embedder, embedder_of(*map, config));
  const std::lock_guard lock(mutex_);
  auto& index = opened_[name];
  if (!index)
    index = std::make_shared<RoutedIndex>(std::move(config), std::move(router),
                                          std::move(embedder), *options_.routing.clock);
  return index;
}

Result<RoutedIndexes::Storage> RoutedIndexes::storage(const std::string& prefix) {
  KIN_TRY(const auto all, names());
  Storage sum;
  for (const std::string& name : all) {
    if (!name.starts_with(prefix)) continue;
    KIN_TRY(const auto index, open(name));
    for (const auto& shard : index->shards().stats()) {
      if (!shard.ok()) return shard.error();
      const kv::StoreUsage& truth = shard->stats.truth;
      sum.entities += shard->stats.counters.entities;
      sum.bytes += truth.disk_bytes + truth.write_buffer_bytes + shard->stats.text_bytes;
    }
  }
  return sum;
}

}  // namespace kin::server
