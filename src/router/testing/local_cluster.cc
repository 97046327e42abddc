#include "router/testing/local_cluster.h"

namespace kin::router {

LocalCluster::LocalCluster(const LocalClusterOptions& options)
    : clock_(*options.shard.clock), text_(index::text_options(options.shard)) {
  constexpr auto kLog = kv::StoreOptions::Engine::kLog;
  auto meta = LocalMetaStore::open("/meta", {.engine = kLog, .disk = &disk_});
  KIN_CHECK(meta.ok(), "the meta store opens");
  meta_ = std::move(*meta);
  std::vector<std::string> addresses;
  std::vector<Hash128> identities;
  for (std::size_t i = 0; i < options.shards; ++i) {
    index::ShardOptions shard = options.shard;
    shard.truth.engine = kLog;
    shard.truth.disk = &disk_;
    addresses.push_back(std::to_string(i));
    const Hash128 identity = hash128(addresses.back());
    auto host = ShardHost::open("/shard" + addresses.back(), shard, identity);
    KIN_CHECK(host.ok(), "the shard opens");
    hosts_.push_back(std::move(*host));
    clients_.push_back(std::make_shared<WatchedClient>(*hosts_.back()));
    identities.push_back(identity);
  }
  NewIndex index{.map = spread_partitions("things", addresses, options.partitions)};
  if (!options.sample.empty()) {
    auto centroids = Centroids::train(options.shard.spaces.at(0), options.sample,
                                      {.partitions = options.partitions, .shards = options.shards});
    KIN_CHECK(centroids.ok(), "the sample fits");
    index.map = spread_partitions("things", addresses, *centroids);
    index.centroids = std::move(*centroids);
  }
  index.map.identities = identities;
  const Status made = create_index(*meta_, connect(), std::move(index), {.clock = &clock_});
  KIN_CHECK(made.ok(), made.ok() ? "" : made.error().message.c_str());
  router_ = open_router();
}

Connect LocalCluster::connect() {
  return [this](const std::string& address) -> std::shared_ptr<ShardClient> {
    return clients_.at(std::stoul(address));
  };
}

std::unique_ptr<Router> LocalCluster::open_router() {
  auto opened = Router::open("things", *meta_, connect(), {.clock = &clock_, .text = text_});
  KIN_CHECK(opened.ok(), opened.ok() ? "" : opened.error().message.c_str());
  return std::move(*opened);
}

}  // namespace kin::router
