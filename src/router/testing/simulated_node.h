// A node of a simulation: the real ShardHost on a disk that loses power, behind a network.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
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
  // Mistakes of moves. From kDropsTombstones on, digests are not compared either: they would find
  // these.
  kNoFence,           // the source is not told to refuse requests
  kServesOldReaders,  // the source refuses writes, but goes on answering reads
  kRefusesTooEarly,   // a write is refused without looking whether it was applied before
  kCleansEarly,       // the source removes its copy before it is handed over
  kDropsTombstones,   // deletions are not copied
  kLosesLog,          // changes after the copy are not sent, as if the log had been trimmed
  kDropsPlaces,       // directory entries are not copied
  kDropsEdges,        // edges are not copied
  kStopsCopyEarly,    // only the first page is copied
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

  // The power fails during the next request of a move, before the `write`-th change of the disk; 0:
  // when the request was served, before its reply is sent.
  void crash_in_move(std::uint64_t write) { planned_ = write; }
  // False if that request had fewer writes.
  bool crashed_in_move() const { return crashed_in_move_; }

  // Starts again at once if it is down.
  void ensure_up();

 private:
  void open();
  Reply<Response> serve(const Request& request, const CallOptions& options);
  Reply<Response> sabotaged(const Request& request, const CallOptions& options);
  // Runs `work`, during which the power may fail: false if it did.
  bool survives(const std::function<void()>& work);
  bool survives_planned(const std::function<void()>& work);
  void lose_power(std::unique_ptr<SimulatedDisk> after);
  // kServesOldReaders.
  std::optional<Reply<Response>> serve_old_readers(const Request& request,
                                                   const CallOptions& options);

  Simulation& simulation_;
  SimulatedNetwork& network_;
  std::string name_;
  index::ShardOptions options_;
  NodeFaults faults_;
  std::unique_ptr<SimulatedDisk> disk_;
  std::unique_ptr<ShardHost> host_;
  Process process_ = 0;
  std::uint64_t copies_ = 0;  // of requests, for kAppliesTwice
  index::Owners fenced_;      // for kServesOldReaders: told, and not passed on
  std::optional<std::uint64_t> planned_;
  bool crashed_in_move_ = false;
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

// Whether movers send such requests.
bool is_of_move(const Request& request);

// The name of a request in a trace.
std::string name_of(const Request& request);

}  // namespace kin::router
