// A node of a simulation: the real ShardHost on a disk that loses power, behind a network.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/testing/simulated_disk.h"
#include "router/shard_host.h"
#include "router/testing/simulated_network.h"

namespace kin::router {

// Deliberate mistakes, to show that the checks find them.
enum class Sabotage : std::uint8_t {
  kNone,
  kAppliesTwice,   // a request that arrives again is applied again
  kAnswersEarly,   // a write is acknowledged before it is made
  kForgetsClaims,  // the directory grants claims and does not keep them
};

struct NodeFaults {
  std::uint64_t crash_in_request = 0;  // the power fails during one request in so many; 0: never
  std::uint64_t slow = 0;              // one request in so many takes long
  Sabotage sabotage = Sabotage::kNone;
};

// One thread only, that of the simulation.
class SimulatedNode {
 public:
  SimulatedNode(Simulation& simulation, SimulatedNetwork& network, std::string name,
                index::ShardOptions options);

  const std::string& name() const { return name_; }
  Process process() const { return process_; }
  void set(const NodeFaults& faults) { faults_ = faults; }

  // The power fails; it is back after `pause`.
  void crash(std::chrono::nanoseconds pause);
  // A piece of background work.
  void step();

  // A request that arrived; `reply` sends the answer on its way.
  using SendReply = std::function<void(Reply<Response>)>;
  void receive(const Request& request, const CallOptions& options, const SendReply& reply);

  // Starts again at once if it is down.
  void ensure_up();

 private:
  void open();
  Reply<Response> serve(const Request& request, const CallOptions& options);
  Reply<Response> sabotaged(const Request& request, const CallOptions& options);
  // Runs `work`, during which the power may fail: false if it did.
  bool survives(const std::function<void()>& work);

  Simulation& simulation_;
  SimulatedNetwork& network_;
  std::string name_;
  index::ShardOptions options_;
  NodeFaults faults_;
  std::unique_ptr<SimulatedDisk> disk_;
  std::unique_ptr<ShardHost> host_;
  Process process_ = 0;
  std::uint64_t copies_ = 0;  // of requests, for kAppliesTwice
};

// A way from a process to a node.
class SimulatedClient final : public ShardClient {
 public:
  SimulatedClient(Simulation& simulation, SimulatedNetwork& network, Process from,
                  SimulatedNode& node)
      : simulation_(simulation), network_(network), from_(from), node_(node) {}
  Started<Response> start(Request request, const CallOptions& options) override;

 private:
  Simulation& simulation_;
  SimulatedNetwork& network_;
  Process from_;
  SimulatedNode& node_;
};

// The name of a request in a trace.
std::string name_of(const Request& request);

}  // namespace kin::router
