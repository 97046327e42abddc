// The moves and repartitions of a simulated run: who begins, aborts and steps them, and whether
// they end.
#pragma once

#include <cstdint>
#include <functional>
#include <set>

#include "base/random.h"
#include "router/repartition.h"
#include "router/testing/cluster_clients.h"
#include "router/testing/cluster_routers.h"

namespace kin::router {

// One thread only, that of the simulation. What it is given outlives it.
class ClusterMoves {
 public:
  // `is_busy`: clients are at work.
  ClusterMoves(const RunOptions& options, Simulation& simulation, ClusterRouters& routers,
               ClusterClients& clients, RunReport& report, std::function<bool()> is_busy)
      : options_(options),
        simulation_(simulation),
        routers_(routers),
        clients_(clients),
        report_(report),
        is_busy_(std::move(is_busy)) {}

  void begin_any(Random& random);
  void abort_any(Random& random);
  void begin_any_repartition(Random& random);
  void abort_any_repartition(Random& random);

  // See RunOptions::crash and contended.
  void move_first_key();
  void divide_first_key();
  void move_all_the_time();
  // The move or repartition of RunOptions::crash has begun.
  bool has_begun() const { return has_begun_; }

  // Steps the mover of a router until the moves are settled.
  void step(std::size_t router);
  // Waits until all are over.
  void settle();

 private:
  void settle_moves();
  void settle_repartition();
  void count(const Repartition& repartition);

  const RunOptions& options_;
  Simulation& simulation_;
  ClusterRouters& routers_;
  ClusterClients& clients_;
  RunReport& report_;
  std::function<bool()> is_busy_;
  bool has_begun_ = false;
  bool is_settled_ = false;
  std::set<std::uint64_t> counted_;  // repartitions
};

}  // namespace kin::router
