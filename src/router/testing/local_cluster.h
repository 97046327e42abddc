// Several shards and a router in one process, without faults, for tests.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/testing/simulated_disk.h"
#include "router/local_meta_store.h"
#include "router/router.h"
#include "router/shard_host.h"

namespace kin::router {

// A way to a shard that can be cut, and counts its calls. Thread-compatible.
class WatchedClient final : public ShardClient {
 public:
  explicit WatchedClient(ShardHost& host) : local_(host) {}
  Started<Response> start(Request request, const CallOptions& options) override {
    if (is_down) {
      return Started<Response>(
          [] { return Reply<Response>(Error{Code::kUnavailable, "the shard is down"}); });
    }
    ++calls;
    CallOptions how = options;
    how.reach = reach;
    return local_.start(std::move(request), how);
  }

  bool is_down = false;
  Reach reach = {};  // of the shard
  std::size_t calls = 0;

 private:
  LocalClient local_;
};

struct LocalClusterOptions {
  std::size_t shards = 4;
  std::size_t partitions = 16;
  index::ShardOptions shard = {};               // whose clock is that of the router, too
  std::vector<std::vector<float>> sample = {};  // for centroids; empty: entities go by their ids
};

// One thread only.
class LocalCluster {
 public:
  explicit LocalCluster(const LocalClusterOptions& options);

  Router& router() { return *router_; }
  ShardHost& host(std::size_t shard) { return *hosts_[shard]; }
  WatchedClient& client(std::size_t shard) { return *clients_[shard]; }
  MetaStore& meta() { return *meta_; }
  // Another router of the same index.
  std::unique_ptr<Router> open_router();
  Connect connect();

 private:
  Clock& clock_;
  index::TextOptions text_;
  SimulatedDisk disk_;
  std::unique_ptr<LocalMetaStore> meta_;
  std::vector<std::unique_ptr<ShardHost>> hosts_;
  std::vector<std::shared_ptr<WatchedClient>> clients_;
  std::unique_ptr<Router> router_;
};

}  // namespace kin::router
