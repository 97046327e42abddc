// One copy of a shard on a node that holds leases: its rows in a folder, as owner or as follower.
//
//   KIN_TRY(auto copy, ShardCopy::open(node, {"papers", identity}, folder));
//   copy->start();
//   if (const auto host = copy->host()) reply = host->serve(request, how);
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/hash.h"
#include "base/result.h"
#include "base/step.h"
#include "router/lease.h"
#include "router/meta_store.h"
#include "router/shard_host.h"
#include "router/shard_log.h"
#include "server/node/copy_state.h"
#include "server/node/node_log.h"
#include "server/node/node_shards.h"
#include "server/service/step_thread.h"

namespace kin::server {

// What all copies of a node have in common. What it points to outlives them.
struct CopyNode {
  router::MetaStore* meta = nullptr;
  std::string address = {};  // of the node, in maps and leases
  NodeLogOptions log = {};
  Clock* clock = &system_clock();
  std::function<Hash128()> draw = {};  // never the same twice, on any node
  router::LeaseOptions lease = {};
  std::function<void(const Error&)> on_problem = {};      // called on any thread
  std::function<void(const std::string&)> on_event = {};  // a take-over, for people
};

// Has two threads between start() and stop(): one for its lease, and one that restores the rows
// from the log, follows it, takes the shard over and ships. A copy that another one took over gives
// its rows up and begins again as a follower. Thread-safe, but for start(), stop() and close().
class ShardCopy {
 public:
  // A new shard, whose first owner this is. `folder` is missing or empty.
  static Result<std::unique_ptr<ShardCopy>> make(const CopyNode& node, router::LoggedShard name,
                                                 std::filesystem::path folder,
                                                 std::string settings);
  // A follower without rows yet.
  static Result<std::unique_ptr<ShardCopy>> follow(const CopyNode& node, router::LoggedShard name,
                                                   std::filesystem::path folder);
  // The copy in the folder; null if it holds none that counts.
  static Result<std::unique_ptr<ShardCopy>> open(const CopyNode& node, router::LoggedShard name,
                                                 std::filesystem::path folder);
  ~ShardCopy();

  void start();
  // Returns when the threads have ended. The copy does not change any more.
  void stop();

  const router::LoggedShard& name() const { return name_; }
  const std::filesystem::path& folder() const { return folder_; }
  CopyState state() const;
  std::string settings() const;
  // Null while there are no rows.
  std::shared_ptr<router::ShardHost> host() const;
  // Answers as the owner.
  bool owns() const;
  // Nobody misses it: it is not the owner, nor about to be.
  bool is_spare() const;
  // See ServedIndexes::hold(). Nothing if the host is not the one of this copy.
  std::optional<Status> hold(const router::ShardHost& host, SteadyTime deadline) const;
  ShardFigures figures() const;

  // For one thread of the node.
  Result<StepOutcome> step_snapshots();
  // After stop(). False while calls still use the rows: try again.
  bool release();
  // After release(): removes the log of the shard, of which this copy was the owner.
  Status remove_log();
  // After stop(), when no call is running: closes the files, ships the rest of the log, and gives
  // the lease back.
  Status close();

 private:
  struct Life;
  using Role = CopyState::Role;
  ShardCopy(const CopyNode& node, router::LoggedShard name, std::filesystem::path folder,
            const CopyState& state, std::string settings);

  std::shared_ptr<Life> life() const;
  StepOutcome step_lease();
  StepOutcome step_log();
  Result<StepOutcome> go_on(Life& life);
  // Whether the copy can begin at a snapshot, and not where it is.
  Result<bool> must_be_restored(Life& life, const Error& error);
  Result<StepOutcome> give_up(std::string_view why);
  Result<StepOutcome> begin_again();
  Result<bool> belongs_to_another();
  Result<bool> restore();
  Status open_life();
  // `clean` is that of the folder before it was opened (router::ReplicaOptions).
  void make_replica(Life& life, std::uint64_t last_term,
                    const std::optional<router::LogPosition>& clean);
  Status become_owner(const Life& life);
  Status keep(Role role, const std::optional<router::LogPosition>& clean = {});
  void report(const Error& error);
  void say(const std::string& event) const;
  StepOutcome after(std::chrono::nanoseconds time) const;

  const CopyNode& node_;
  const router::LoggedShard name_;
  const std::filesystem::path folder_;
  const std::unique_ptr<cloud::ObjectStore> objects_;  // of the shard
  std::atomic<std::uint64_t> take_overs_{0};
  std::string last_problem_;  // of the thread of the log
  bool is_listed_ = false;    // of the thread of snapshots

  std::mutex starting_;  // held while the threads are made

  mutable std::mutex mutex_;  // guards what follows
  CopyState state_;
  std::string settings_;
  std::shared_ptr<Life> life_;  // null while there are no rows
  std::weak_ptr<Life> ended_;   // the last one, which calls may still use
  router::SnapshotStats snapshots_;

  std::unique_ptr<StepThread> lease_thread_;
  std::unique_ptr<StepThread> log_thread_;
};

}  // namespace kin::server
