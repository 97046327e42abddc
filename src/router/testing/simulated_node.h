// A node of a simulation: the real ShardHost on a disk that loses power, behind a network.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/testing/simulated_disk.h"
#include "router/shard_host.h"
#include "router/testing/simulated_network.h"
#include "router/testing/simulated_server.h"

namespace kin::router {

class Outage;

// Deliberate mistakes, to show that the checks find them.
enum class Sabotage : std::uint8_t {
  kNone,
  kAppliesTwice,   // a request that arrives again is applied again
  kAnswersEarly,   // a write is acknowledged before it is made
  kForgetsClaims,  // the directory grants claims and does not keep them
  // Mistakes of take-overs.
  kNoSeal,            // the old term of the log is not sealed
  kServesAfterLease,  // an owner goes on answering when its lease is over
  kNotDurable,        // replies are not held until their batches are shipped
  kReadsNotHeld,      // replies to reads are not
  kStopsLogEarly,     // the rest of the log, up to the seal, is not applied
  kIgnoresSnapshots,  // a copy goes on from the log though a snapshot has a later state
  kTrimsLogEarly,     // the owner removes objects of the log that no snapshot has
  kHidesAge,          // a follower says that its state is not old
  // Mistakes of repartitions.
  kDropsClaims,    // the directory is not told where entities are
  kServesOldMaps,  // shards do not look how old the map of a caller is
  kReadsAnyhow,    // copies answer reads, also where they are behind the last repartition
  // Mistakes of moves. From kDropsTombstones on, digests are not compared either: they would find
  // these.
  kNoFence,            // the source is not told to refuse requests
  kServesOldReaders,   // the source refuses writes, but goes on answering reads
  kRefusesTooEarly,    // a write is refused without looking whether it was applied before
  kCleansEarly,        // the source removes its copy before it is handed over
  kDropsTombstones,    // deletions are not copied
  kLosesLog,           // changes after the copy are not sent, as if the log had been trimmed
  kDropsPlaces,        // directory entries are not copied
  kDropsEdges,         // edges are not copied
  kStopsCopyEarly,     // only the first page is copied
  kMissingPageIsLast,  // a page that the target does not get from the source counts as the last one
  kTakesOldPages,      // the first page of an older move counts as that of the newest one
};

struct NodeFaults {
  std::uint64_t crash_in_request = 0;  // the power fails during one request in so many; 0: never
  std::uint64_t slow = 0;              // one request in so many takes long
  Sabotage sabotage = Sabotage::kNone;
};

// One thread only, that of the simulation.
class SimulatedNode final : public SimulatedServer {
 public:
  SimulatedNode(Simulation& simulation, SimulatedNetwork& network, std::string name,
                index::ShardOptions options);

  const std::string& name() const override { return name_; }
  Process process() const override { return process_; }
  void set(const NodeFaults& faults) override { faults_ = faults; }
  void reach_others(NodeCalls calls) override { calls_ = std::move(calls); }
  void crash(std::chrono::nanoseconds pause) override;
  void step() override;
  void receive(const Request& request, const CallOptions& options, const SendReply& reply) override;
  void crash_in_move(std::uint64_t write) override { planned_ = write; }
  bool crashed_in_move() const override { return crashed_in_move_; }
  void ensure_up() override;

 private:
  // A process. A task that waits in one of its requests holds it, and finds it over when it goes
  // on.
  struct Life {
    Process process = 0;
    std::unique_ptr<SimulatedDisk> disk = {};
    std::unique_ptr<ShardHost> host = {};
  };
  using LifePointer = std::shared_ptr<Life>;
  using OutagePointer = std::shared_ptr<Outage>;  // null if the power does not fail

  void open();
  void end_life(std::unique_ptr<SimulatedDisk> disk);
  void serve(LifePointer life, const Request& request, const CallOptions& options,
             const OutagePointer& outage, const SendReply& reply);
  Reply<Response> sabotaged(const Request& request, const CallOptions& options);
  Reply<Response> pull(const LifePointer& life, const PullRequest& request, CallOptions options,
                       const OutagePointer& outage);
  OutagePointer draw_outage();
  OutagePointer planned_outage();
  // Ends a stretch of work: true if the power failed in it.
  bool loses_power(const LifePointer& life, const OutagePointer& outage, bool is_done);
  // kServesOldReaders.
  std::optional<Reply<Response>> serve_old_readers(const Request& request,
                                                   const CallOptions& options);

  Simulation& simulation_;
  SimulatedNetwork& network_;
  std::string name_;
  index::ShardOptions options_;
  NodeFaults faults_;
  NodeCalls calls_;
  std::unique_ptr<SimulatedDisk> disk_ = std::make_unique<SimulatedDisk>();  // while it is down
  LifePointer life_;          // null while the power is off
  Process process_ = 0;       // the last one
  std::uint64_t copies_ = 0;  // of requests, for kAppliesTwice
  index::Owners fenced_;      // for kServesOldReaders: told, and not passed on
  std::map<index::PartitionId, index::ExportPage> first_pages_;  // for kTakesOldPages
  std::optional<std::uint64_t> planned_;
  OutagePointer planned_outage_;
  bool crashed_in_move_ = false;
};

// A way from a process to a node.
class SimulatedClient final : public ShardClient {
 public:
  SimulatedClient(Simulation& simulation, SimulatedNetwork& network, Process from,
                  SimulatedServer& node)
      : simulation_(simulation), network_(network), from_(from), node_(node) {}
  Started<Response> start(Request request, const CallOptions& options) override;

 private:
  Simulation& simulation_;
  SimulatedNetwork& network_;
  Process from_;
  SimulatedServer& node_;
};

// Whether movers send such requests.
bool is_of_move(const Request& request);

// The name of a request in a trace.
std::string name_of(const Request& request);

}  // namespace kin::router
