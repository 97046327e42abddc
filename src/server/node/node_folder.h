// The shards of a node, in a folder: one sub-folder for each index.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/hash.h"
#include "base/result.h"
#include "base/step.h"
#include "router/shard_host.h"
#include "server/node/node_log.h"
#include "server/node/node_shards.h"

namespace kin::server {

// Settings are those of docs/formats.md, "An index's settings". Thread-safe; starts no thread.
class NodeFolder final : public NodeShards {
 public:
  // Draws the identity of a new shard; never the same twice, on any node.
  using DrawIdentity = std::function<Hash128()>;

  // Opens all shards of the folder, which need not exist. `clock` must outlive it.
  // With a log, shards that the folder lacks and whose log belongs to the node are restored first.
  static Result<std::unique_ptr<NodeFolder>> open(std::filesystem::path folder, Clock& clock,
                                                  DrawIdentity draw,
                                                  std::optional<NodeLogOptions> log = {});

  Result<std::shared_ptr<router::ShardHost>> find(const std::string& index,
                                                  const Hash128& shard) override;
  // kInvalidArgument for a name or settings that are not valid, kFailedPrecondition for settings
  // that a node cannot serve. A shard with other settings that was never told what it owns is what
  // an index left that did not come about, and is replaced.
  Status create(const rpc::ServedIndex& index) override;
  Status drop(const std::string& index, const Hash128& shard) override;
  Result<std::vector<rpc::ServedIndex>> list() override;
  // kFailedPrecondition if another node has taken over the shard; kUnavailable if what a reply tells
  // is not durable at the deadline.
  Status hold(const std::shared_ptr<router::ShardHost>& host, SteadyTime deadline) override;

  std::vector<ShardFigures> figures() override;
  Result<StepOutcome> step() override;
  bool is_in_move() override;
  // Ships what waits in the logs of shards; on a thread of its own, which `wake` wakes.
  Result<StepOutcome> ship();
  void on_work(std::function<void()> wake);
  Result<StepOutcome> step_snapshots() override;
  Status close() override;

 private:
  struct Served {
    std::string settings = {};
    std::shared_ptr<router::ShardLog> log = {};  // null: nothing is shipped
    std::shared_ptr<router::ShardHost> host = {};  // destroyed before its log
    bool dropped = false;  // refuses new calls; freed when running calls finish
  };
  NodeFolder(std::filesystem::path folder, Clock& clock, DrawIdentity draw,
             std::optional<NodeLogOptions> log)
      : folder_(std::move(folder)), clock_(clock), draw_(std::move(draw)), log_(std::move(log)) {}
  Status restore_missing();
  std::shared_ptr<router::ShardLog> log_of(const std::shared_ptr<router::ShardHost>& host);
  // All shards that are served as they are now, so that nobody waits for work on one of them.
  std::map<std::string, Served> served();
  Result<Served> open_shard(const std::string& name, const std::string& settings) const;
  // Removes a dropped shard that nobody uses any more. With creating_ held.
  Status finish_drop(const std::string& name);
  // Removes the files of a shard that belongs to no index.
  Status discard(const std::string& name) const;

  const std::filesystem::path folder_;
  Clock& clock_;
  const DrawIdentity draw_;
  const std::optional<NodeLogOptions> log_;
  std::mutex creating_;  // held while a shard is made; taken before mutex_
  std::mutex mutex_;     // guards what follows
  std::function<void()> wake_;
  std::map<std::string, Served> served_;
};

}  // namespace kin::server
