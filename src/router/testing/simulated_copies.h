// The copies of every shard of a simulated index: first owners, followers, and what breaks them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "router/followers.h"
#include "router/testing/cluster_run.h"
#include "router/testing/simulated_replica.h"

namespace kin::router {

// One thread only, that of the simulation. What it is given outlives it.
class SimulatedCopies {
 public:
  SimulatedCopies(Simulation& simulation, SimulatedNetwork& network, SimulatedMetaServer& meta,
                  const RunOptions& options, RunReport& report)
      : simulation_(simulation),
        network_(network),
        meta_(meta),
        options_(options),
        report_(report) {}

  // A shard with its first owner and its followers, each on a node of its own among `nodes`.
  void make(const std::string& shard, const index::ShardOptions& options,
            std::vector<std::unique_ptr<SimulatedServer>>& nodes);
  void set(const ObjectFaults& faults);
  // Waits until every shard has an owner. What is wrong if one has none some time after nothing
  // breaks any more.
  std::optional<std::string> await_owners();
  // All of them, as the meta store has them.
  std::vector<Follower> followers() const;
  // For people: what each of them does.
  std::string state() const;
  // The node that owns the shard that was made last, or owned it first.
  std::string owner_of_last() const;
  // Pauses one, stops it in order, or cuts it off from something.
  void break_one(Random& random);
  // Pauses the copy of this name, and lets another one of its shard lag behind meanwhile.
  void break_beside(const std::string& name, Random& random);
  // See RunOptions::crash.
  void lose_first_owner();
  void stop();

 private:
  void crash(SimulatedReplica& replica, const std::string& peer);

  Simulation& simulation_;
  SimulatedNetwork& network_;
  SimulatedMetaServer& meta_;
  const RunOptions& options_;
  RunReport& report_;
  std::vector<SimulatedReplica*> replicas_;  // those of one shard are neighbours
};

}  // namespace kin::router
