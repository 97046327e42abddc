// Requests that a node of a simulation serves with calls to other nodes: pulls of a partition's
// copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/testing/simulated_disk.h"
#include "router/shard_client.h"
#include "router/testing/simulated_node.h"
#include "router/testing/simulation.h"

namespace kin::router {

// The power fails during a piece of work: before a change of the disk, or when the work is done.
// Work that waits for others is done in stretches, and only its own changes count. One thread only.
class Outage {
 public:
  // `change` is counted from 1; 0: when the work is done.
  Outage(std::uint64_t change, const PowerCut& cut)
      : left_(change), when_done_(change == 0), cut_(cut) {}

  void begin_stretch(SimulatedDisk& disk);
  // The disk as the machine finds it; null if the power has not failed yet.
  std::unique_ptr<SimulatedDisk> end_stretch(SimulatedDisk& disk, bool is_done);

 private:
  std::uint64_t left_;
  bool when_done_;
  PowerCut cut_;
  std::unique_ptr<SimulatedDisk> after_;
};

// What happens around the calls of a request that is served.
struct CallWatch {
  std::function<void(const std::string& peer)> before = {};  // a call is sent
  std::function<void()> waits = {};    // others go on from here, until the reply is there
  std::function<bool()> goes_on = {};  // false if the process has ended meanwhile
  std::function<void(const CopyRequest& asked, index::ExportPage& page)> got_page = {};
  Sabotage sabotage = Sabotage::kNone;
};

// Rests for a while that a seed decides, in a task.
class SimulatedPace final : public Pace {
 public:
  SimulatedPace(Simulation& simulation, CallWatch watch)
      : simulation_(simulation), watch_(std::move(watch)) {}
  bool has_clients() const override { return simulation_.once_in(2); }
  Status rest(std::chrono::nanoseconds took) override;

 private:
  Simulation& simulation_;
  CallWatch watch_;
};

// The same ways to other nodes, watched, with the deliberate mistakes of a target that pulls.
Reach watched_calls(Reach reach, CallWatch watch);

// Whether serving it takes calls to other nodes.
bool makes_calls(const Request& request);

}  // namespace kin::router
