// A node of a simulation that ships its log or follows one: the real Replica, ShardHost, LogShipper
// and LogSnapshots on a disk that loses power, behind a network and an object store.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "base/testing/simulated_disk.h"
#include "cloud/testing/simulated_objects.h"
#include "router/log_snapshot.h"
#include "router/replica.h"
#include "router/testing/served_calls.h"
#include "router/testing/simulated_meta.h"
#include "router/testing/simulated_node.h"
#include "router/testing/watched_moves.h"

namespace kin::router {

struct SimulatedReplicaOptions {
  std::string name = {};
  std::string index = {};
  Hash128 identity = {};
  bool first_owner = false;  // makes the shard; others restore it from its log
  index::ShardOptions shard = {};
  LeaseOptions lease = {};
  std::shared_ptr<cloud::SimulatedObjects::Bytes> objects = {};  // of the shard
  std::function<void()> taken_over = {};  // called when it owns the shard after it was a copy
  // Called before each call that it makes while it takes over. `peer` is "meta" or "objects".
  std::function<void(const std::string& peer)> before_call = {};
};

// How unreliable its object store is, in one write of so many, and more rarely in reads; 0: never.
struct ObjectFaults {
  std::uint64_t fails = 0;
  std::uint64_t reply_lost = 0;
  std::uint64_t slow = 0;  // takes seconds
};

// One thread only, that of the simulation.
class SimulatedReplica final : public SimulatedServer {
 public:
  SimulatedReplica(Simulation& simulation, SimulatedNetwork& network, SimulatedMetaServer& meta,
                   SimulatedReplicaOptions options);
  ~SimulatedReplica() override;

  const std::string& name() const override { return options_.name; }
  Process process() const override;
  void set(const NodeFaults& faults) override { faults_ = faults; }
  void reach_others(NodeCalls calls) override { calls_ = std::move(calls); }
  void set(const ObjectFaults& faults) { object_faults_ = faults; }
  void crash(std::chrono::nanoseconds pause) override;
  void ensure_up() override;
  void step() override;
  void receive(const Request& request, const CallOptions& options,
               const SendReply& reply) override;
  void crash_in_move(std::uint64_t write) override;
  bool crashed_in_move() const override { return crashed_in_move_; }

  // Nothing happens in the process for so long, though time passes.
  void pause(std::chrono::nanoseconds time) { paused_until_ = simulation_.now() + time; }
  // It is stopped in order, and started again after `pause`.
  void stop_in_order(std::chrono::nanoseconds pause);
  // It does not reach the object store for so long.
  void cut_off_objects(std::chrono::nanoseconds time) { objects_back_ = simulation_.now() + time; }
  bool owns() const;
  const Hash128& shard() const { return options_.identity; }
  // For people: its phase, and the last error of its log.
  std::string state() const;
  // It ends, and is not started again.
  void stop();

 private:
  struct Life;
  using LifePointer = std::shared_ptr<Life>;
  void start();
  // In a task: makes the shard or restores it, and runs until the process ends.
  void live(const LifePointer& life);
  bool open(const LifePointer& life);
  void run_lease(const LifePointer& life);
  void run_log(const LifePointer& life);
  void run_snapshots(const LifePointer& life);
  void trim_log(Life& life);
  // Closes the shard and hands it over; the process ends.
  void leave(const LifePointer& life);
  void wait(const LifePointer& life, std::chrono::nanoseconds time);
  // The process ends here; the disk is as given.
  void end_life(std::unique_ptr<SimulatedDisk> disk);
  // Replies whose batches are shipped.
  void release(Life& life);
  void answer(Life& life, const Request& request, Reply<Response> answer, const SendReply& reply);
  using OutagePointer = std::shared_ptr<Outage>;  // null if the power does not fail
  void serve(LifePointer life, const Request& request, const CallOptions& options,
             const OutagePointer& outage, const SendReply& reply);
  Reply<Response> pull(const LifePointer& life, const PullRequest& request, CallOptions options,
                       const OutagePointer& outage);
  OutagePointer outage_at(std::uint64_t write);
  // Ends a stretch of work: true if the power failed in it.
  bool loses_power(Life& life, const OutagePointer& outage, bool is_done);
  cloud::SimulatedObjects::Fate fate(const LifePointer& life, bool writes);
  Standing standing(const Life& life) const;

  Simulation& simulation_;
  SimulatedNetwork& network_;
  SimulatedMetaServer& meta_;
  const SimulatedReplicaOptions options_;
  NodeFaults faults_;
  NodeCalls calls_;
  ObjectFaults object_faults_;
  std::unique_ptr<SimulatedDisk> disk_ = std::make_unique<SimulatedDisk>();  // while it is down
  bool has_shard_ = false;  // the disk holds a shard that can be opened
  bool was_owner_ = false;  // durably
  std::optional<LogPosition> clean_;                // durably: see ReplicaOptions::clean
  std::optional<std::chrono::nanoseconds> leaves_;  // how long it is away then
  LifePointer life_;        // null while the power is off
  SteadyTime paused_until_ = SteadyTime::min();
  SteadyTime objects_back_ = SteadyTime::min();
  std::optional<std::uint64_t> planned_;
  bool crashed_in_move_ = false;
  bool stopped_ = false;
  int restores_ = 0;
};

}  // namespace kin::router
