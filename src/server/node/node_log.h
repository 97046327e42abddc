// Shards of a node whose log is shipped: opened, restored and waited for.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/hash.h"
#include "base/result.h"
#include "cloud/object_store.h"
#include "index/shard.h"
#include "router/shard_host.h"
#include "router/shard_log.h"

namespace kin::server {

struct NodeLogOptions {
  std::shared_ptr<cloud::ObjectStore> objects = {};
  std::string owner = {};  // the node's name, by which an empty disk gets its shards back
  bool durable = false;    // replies wait until what they tell is in the log
  router::LogShipperOptions shipper = {};
  router::SnapshotOptions snapshots = {};
};

// A shard and its log. The host is destroyed first: its stores hand batches to the log.
struct LoggedHost {
  std::shared_ptr<router::ShardLog> log = {};
  std::shared_ptr<router::ShardHost> host = {};
};

struct LoggedShardOptions {
  std::string index = {};
  std::string settings = {};
  std::filesystem::path folder = {};  // of the shard
  index::ShardOptions shard = {};
  Clock* clock = &system_clock();
  std::function<Hash128()> draw = {};
};

// Opens a shard, or makes one, and begins a term of its log: as its owner, or, if the rows were
// restored, in the place of the owner that they are from. kFailedPrecondition if another node has
// taken over.
Result<LoggedHost> open_logged(const NodeLogOptions& log, LoggedShardOptions options);

// A shard of the log that belonged to this node last.
struct OwnShard {
  router::LoggedShard shard = {};
  std::string settings = {};
};
Result<std::vector<OwnShard>> find_own_shards(const NodeLogOptions& log);

// Restores the rows of a shard to `folder`, whose files are removed before.
Status restore_rows(const NodeLogOptions& log, const OwnShard& shard,
                    const std::filesystem::path& folder);

}  // namespace kin::server
