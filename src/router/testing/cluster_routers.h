// The routers of a simulated run: processes that are killed and started again, each with a mover.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "router/mover.h"
#include "router/router.h"
#include "router/testing/cluster_run.h"
#include "router/testing/simulated_meta.h"
#include "router/testing/watched_moves.h"

namespace kin::router {

using SimulatedNodes = std::vector<std::unique_ptr<SimulatedServer>>;

// Null if no node has this name.
SimulatedServer* find_node(const SimulatedNodes& nodes, const std::string& name);

// A router process, as long as it lives.
struct RouterLife {
  Process process = 0;
  std::unique_ptr<SimulatedMeta> meta = {};
  std::unique_ptr<Router> router = {};
  std::unique_ptr<WatchedMeta> watched = {};
  std::unique_ptr<Mover> mover = {};
};
using RouterPointer = std::shared_ptr<RouterLife>;

struct RouterWatch {
  // Called before the mover of a router sends a call to `peer`. `stop` kills that router.
  std::function<void(const std::function<void()>& stop, const std::string& peer)> before_call = {};
  std::function<void(const std::string& what)> violate = {};
};

// One thread only, that of the simulation. What it is given outlives it.
class ClusterRouters {
 public:
  ClusterRouters(const RunOptions& options, Simulation& simulation, SimulatedNetwork& network,
                 SimulatedMetaServer& meta, const SimulatedNodes& nodes, RunReport& report,
                 RouterWatch watch)
      : options_(options),
        simulation_(simulation),
        network_(network),
        meta_(meta),
        nodes_(nodes),
        report_(report),
        watch_(std::move(watch)),
        lives_(options.routers),
        opening_(options.routers, false) {}

  std::size_t size() const { return lives_.size(); }
  // Starts the router if it was killed, and waits until it is open. Null if that takes for ever,
  // which is a violation, or if the run is over.
  RouterPointer get(std::size_t number);
  RouterPointer any(Random& random) { return get(random.below(size())); }
  void kill(std::size_t number);
  // No router is opened any more.
  void end() { is_over_ = true; }
  // The ways from a process to the nodes.
  Connect connect_from(Process process);

 private:
  RouterPointer try_open(std::size_t number);
  RouterOptions router_options();
  MoverOptions mover_options() const;

  const RunOptions& options_;
  Simulation& simulation_;
  SimulatedNetwork& network_;
  SimulatedMetaServer& meta_;
  const SimulatedNodes& nodes_;
  RunReport& report_;
  RouterWatch watch_;
  std::vector<RouterPointer> lives_;
  std::vector<bool> opening_;
  bool is_over_ = false;
};

}  // namespace kin::router
