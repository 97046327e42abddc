// A node of a simulation, as clients and faults see it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "router/shard_client.h"
#include "router/testing/simulated_network.h"

namespace kin::router {

struct NodeFaults;

// The calls that a node makes to other nodes.
struct NodeCalls {
  // The ways to others from a process of the node. Empty: it reaches nobody.
  std::function<Reach(Process from)> reach = {};
  std::function<void(const std::string& peer)> before = {};  // a call is sent
  // A pull has ended, for which so many pages have come.
  std::function<void(bool ok, std::size_t pages)> pulled = {};
};

// One thread only, that of the simulation.
class SimulatedServer {
 public:
  virtual ~SimulatedServer() = default;

  virtual const std::string& name() const = 0;
  virtual Process process() const = 0;
  virtual void set(const NodeFaults& faults) = 0;
  virtual void reach_others(NodeCalls calls) = 0;

  // The power fails; it is back after `pause`.
  virtual void crash(std::chrono::nanoseconds pause) = 0;
  // Starts again at once if it is down.
  virtual void ensure_up() = 0;
  // A piece of background work.
  virtual void step() = 0;

  // A request that arrived; `reply` sends the answer on its way.
  using SendReply = std::function<void(Reply<Response>)>;
  virtual void receive(const Request& request, const CallOptions& options,
                       const SendReply& reply) = 0;

  // The power fails during the next request of a move or the next piece of a take-over, before the
  // `write`-th change of the disk; 0: when it was served, before its reply is sent.
  virtual void crash_in_move(std::uint64_t write) = 0;
  // False if that had fewer writes.
  virtual bool crashed_in_move() const = 0;
};

}  // namespace kin::router
