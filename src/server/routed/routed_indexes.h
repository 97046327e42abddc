// All indexes that a router serves, by name. Names are full ones (server/tenants/names.h).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "router/followers.h"
#include "router/meta_store.h"
#include "rpc/grpc_client.h"
#include "search/index_config.h"
#include "search/search_index.h"
#include "server/routed/routed_index.h"
#include "server/watch/metrics.h"

namespace kin::server {

struct RoutedOptions {
  std::vector<std::string> nodes = {};  // addresses: new indexes are spread over them
  // Copies of each shard of a new index beside its owner (router/followers.h); below the number of
  // nodes.
  std::size_t followers = 0;
  // How old a state may answer a read that does not say it itself; 0: none but the newest.
  std::chrono::milliseconds stale_reads{0};
  rpc::ConnectionOptions connection = {};
  router::RouterOptions routing = {};
  search::OpenOptions embedders = {};  // where embedders are, and what they may reach
  Metrics* metrics = nullptr;  // gets the calls to nodes; must outlive the indexes
};

// Maps are in the meta store, each with the settings of its index. Thread-safe.
class RoutedIndexes {
 public:
  // `meta` must outlive it.
  RoutedIndexes(router::MetaStore& meta, RoutedOptions options)
      : meta_(meta), options_(std::move(options)) {}

  Result<std::vector<std::string>> names();
  struct Creation {
    search::IndexConfig config = {};
    std::size_t partitions = 64;
    std::vector<search::Document> sample = {};  // see learn()
  };
  // kFailedPrecondition if the name is taken, or nodes cannot serve such an index; kUnavailable if
  // a node does not answer. Then it can be tried again. The errors of learn().
  Status create(const std::string& name, const Creation& creation);
  // Removes an index from all nodes. From then on nobody finds it; kUnavailable if a node does not
  // remove its shard yet: try again. Until that is done no index of the name can be made.
  Status drop(const std::string& name);
  // kNotFound if there is no such index. The meta store is asked the first time only.
  Result<std::shared_ptr<RoutedIndex>> open(const std::string& name);
  // See RoutedOptions.
  std::chrono::milliseconds stale_reads() const { return options_.stale_reads; }
  // Counts a read that was answered, for the metrics.
  void count_read(RoutedIndex& index, const router::Staleness& staleness) const;
  // For a request that failed: another router may have dropped the index, and made another of the
  // same name. Then the next open() opens that one. True if the index was another one.
  Result<bool> forget_if_gone(const std::string& name);

  // Gives the index a further shard, on this node, without partitions (router/grow.h). `meta` is the
  // store itself. kUnavailable if the node does not answer.
  Status add_node(const std::string& name, const std::string& address, router::MetaStore& meta);
  // Gives every shard so many copies beside its owner, on the nodes of the router and of the index.
  // kInvalidArgument if there are not enough nodes.
  Result<std::vector<router::Follower>> set_followers(const std::string& name, std::size_t count,
                                                      router::MetaStore& meta);
  // The ways to the shards of an index.
  router::Connect connect_to(const std::string& name);

  // The sum over the shards of all indexes whose names begin so.
  struct Storage {
    std::uint64_t entities = 0;
    std::uint64_t bytes = 0;  // on the nodes' disks, as far as nodes know
  };
  Result<Storage> storage(const std::string& prefix);

 private:
  Result<std::shared_ptr<rpc::NodeConnection>> connection(const std::string& address);
  // The map of an index, with its settings; nothing if there is no such index.
  Result<std::optional<router::ShardMap>> map_of(const std::string& name);
  // Null for vectors that come with the documents, and without vectors.
  Result<std::shared_ptr<const embed::Embedder>> embedder_of(const router::ShardMap& map,
                                                             const search::IndexConfig& config);

  Result<std::vector<router::Follower>> list_followers(const router::ShardMap& map,
                                                       const std::vector<std::string>& nodes,
                                                       std::size_t count, router::MetaStore& meta);
  // The node that owns a shard of an index without a map.
  Result<std::string> owner_of(const router::ShardMap& map, std::uint32_t shard);
  // Removes the shards of an index that has no map any more.
  Status finish_drop(const std::string& name);
  // Where it is owned now.
  Status drop_shard(const router::ShardMap& map, std::uint32_t shard);

  // An index, and which of those that have had its name.
  struct Opened {
    std::shared_ptr<RoutedIndex> index = {};
    std::uint64_t revision = 0;  // of a map that is known to be its own
    Hash128 first = {};          // identity of its first shard, which no other index has
  };
  // Forgets an opened index whose map is not this one, or which has none; true if it did.
  bool forget_unless(const std::string& name, const router::MetaValue* map);

  router::MetaStore& meta_;
  const RoutedOptions options_;
  std::mutex creating_;  // held while an index is made or dropped
  std::mutex mutex_;  // guards what follows
  std::map<std::string, std::shared_ptr<rpc::NodeConnection>> connections_;
  std::map<std::string, Opened> opened_;
};

}  // namespace kin::server
