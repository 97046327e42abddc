// Backups of shipped logs, and nodes' folders made from them.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "cloud/object_store.h"
#include "router/shard_log.h"

namespace kin::server {

struct BackedUp {
  router::LoggedShard shard = {};
  std::string owner = {};  // name of the node
  router::BackupReport report = {};
};
// Copies the log of every shard of an index, or of all if `index` is empty; see
// router::back_up_shard(). Shards may be written meanwhile. kNotFound if there are none.
Result<std::vector<BackedUp>> back_up(cloud::ObjectStore& from, cloud::ObjectStore& to,
                                      const std::string& index);

struct RestoreRequest {
  std::string index = {};  // empty: all
  std::string node = {};   // only shards of this node; empty: of any
  std::filesystem::path folder = {};  // data folder of a node
  std::optional<WallTime> at = {};
};
struct RestoredIndex {
  std::string index = {};
  WallTime time = {};  // of the last change
};
// Writes shards to the folder of a node that does not run. kFailedPrecondition if an index has
// several shards that fit, or the folder has the index.
Result<std::vector<RestoredIndex>> restore(cloud::ObjectStore& from, const RestoreRequest& request);

}  // namespace kin::server
