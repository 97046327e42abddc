// The clients of a simulated run: what they write and read, and what they see.
#pragma once

#include <string>
#include <vector>

#include "base/random.h"
#include "router/router.h"
#include "router/testing/cluster_run.h"
#include "router/testing/history.h"
#include "router/testing/simulation.h"

namespace kin::router {

// The id of a key that clients use.
DocId key_id(std::size_t key);

// One thread only, that of the simulation. What it is given outlives it.
class ClusterClients {
 public:
  ClusterClients(const RunOptions& options, Simulation& simulation, History& history,
                 RunReport& report)
      : options_(options), simulation_(simulation), history_(history), report_(report) {}

  // One operation.
  void act(Router& router, Random& random);
  void read_all(Router& router);
  void violate(const std::string& what);

 private:
  using Kind = Operation::Kind;

  void put(Router& router, std::vector<std::size_t> keys, Random& random);
  void remove(Router& router, std::size_t key);
  // A read, and how old a state may answer it.
  struct Reading {
    SteadyTime begun = {};
    Staleness staleness = {};
  };
  void get(Router& router, Reading reading);
  void search_key(Router& router, std::size_t key, Reading reading);
  void search_state(Router& router, std::size_t key, KeyState state, Reading reading);
  void list(Router& router, bool by_vector, Reading reading);
  void read_edge(Router& router, std::size_t key, index::Direction direction, Reading reading);
  Reading current() const { return {.begun = simulation_.now()}; }
  // Every second read takes a state that is up to a few seconds old, if there are followers.
  Reading draw_reading(Random& random) const;

  void wrote(std::size_t key, KeyState state, SteadyTime begun, bool known);
  // A read from a state that may be so old sees one that was current at some moment from so long
  // before it began on.
  void saw(std::size_t key, Kind kind, KeyState state, const Reading& reading,
           const std::string& how);
  std::vector<index::Mutation> mutations_for(std::size_t key, KeyState state, Random& random);

  const RunOptions& options_;
  Simulation& simulation_;
  History& history_;
  RunReport& report_;
  KeyState last_state_ = 0;
};

}  // namespace kin::router
