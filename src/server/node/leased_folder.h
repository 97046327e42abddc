// The shards of a node that holds leases: those that it owns, and copies of others. They are in a
// folder, by index and identity.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "server/node/node_shards.h"
#include "server/node/shard_copy.h"

namespace kin::server {

// Which copies it has is in the meta store (router/followers.h); owners keep theirs, whoever is
// listed. Has the threads of its copies between start() and close(). Thread-safe, but for start(),
// follow_rows() and close().
class LeasedFolder final : public NodeShards {
 public:
  // `data` is the folder of the node, which need not exist. kFailedPrecondition if another process
  // uses it, or if it has shards of a node without leases.
  static Result<std::unique_ptr<LeasedFolder>> open(const std::filesystem::path& data,
                                                    CopyNode node);
  ~LeasedFolder() override;

  void start();
  // Waits until `until` for changes of the rows that say where copies are, then makes copies and
  // removes those that nobody wants any more. On a thread of its own. Errors are those of the meta
  // store: call again.
  Status follow_rows(SteadyTime until);

  // A shard that is known here but not open yet is kUnavailable.
  Result<std::shared_ptr<router::ShardHost>> find(const std::string& index,
                                                  const Hash128& shard) override;
  // Returns when the node owns the new shard; kUnavailable if that takes too long: try again.
  Status create(const rpc::ServedIndex& index) override;
  Status drop(const std::string& index, const Hash128& shard) override;
  Result<std::vector<rpc::ServedIndex>> list() override;
  Status hold(const std::shared_ptr<router::ShardHost>& host, SteadyTime deadline) override;

  std::vector<ShardFigures> figures() override;
  Result<StepOutcome> step() override;
  bool is_in_move() override;
  Result<StepOutcome> step_snapshots() override;
  Status close() override;

 private:
  using Name = std::pair<std::string, Hash128>;  // index and identity
  using CopyPointer = std::shared_ptr<ShardCopy>;
  struct Held {
    CopyPointer copy = {};
    bool retired = false;   // refuses new calls; its files are removed when running calls end
    bool with_log = false;  // so is its log
  };

  LeasedFolder(std::filesystem::path folder, File lock, CopyNode node);
  Status load();
  // Makes copies of shards that the log says were this node's, and whose rows are gone with a disk.
  Status find_lost();
  std::filesystem::path folder_of(const Name& name) const;
  std::vector<CopyPointer> copies() const;
  std::optional<Held> held(const Name& name) const;
  CopyPointer made_here(const std::string& index) const;
  void put(const Name& name, std::unique_ptr<ShardCopy> copy);

  // With creating_ held.
  Result<CopyPointer> make(const rpc::ServedIndex& index);
  // The shard that was made for an index; null if there is none, or one that is of no use any more.
  Result<CopyPointer> usable_for(const rpc::ServedIndex& index);
  // Takes a copy out of service and removes its files, and its log if this node is the owner.
  // kUnavailable while calls use it: try again.
  Status retire(const CopyPointer& copy, bool with_log);
  Status reconcile();
  Result<StepOutcome> for_each(const std::function<Result<StepOutcome>(const CopyPointer&)>& work);

  Status await_owner(const ShardCopy& copy) const;

  const std::filesystem::path folder_;
  const File lock_;
  const CopyNode node_;
  std::uint64_t revision_ = 0;                     // of the thread that follows rows
  std::map<std::string, std::set<Hash128>> rows_;  // of that thread: listed copies, by index
  std::mutex creating_;       // held while copies are made or removed; taken before mutex_
  std::set<Name> lost_;       // of find_lost(): restored though no row says so
  mutable std::mutex mutex_;  // guards what follows
  bool started_ = false;
  std::map<Name, Held> copies_;
};

}  // namespace kin::server
