// A meta store of a simulation: the real LocalMetaStore on a disk that loses power, behind a
// network.
#pragma once

#include <memory>
#include <string>

#include "base/testing/simulated_disk.h"
#include "router/local_meta_store.h"
#include "router/testing/simulated_network.h"

namespace kin::router {

// One thread only, that of the simulation.
class SimulatedMetaServer {
 public:
  SimulatedMetaServer(Simulation& simulation, SimulatedNetwork& network);

  Process process() const { return process_; }
  // The power fails; it is back after `pause`.
  void crash(std::chrono::nanoseconds pause);
  void ensure_up();
  // Null while the power is off.
  LocalMetaStore* store() { return store_.get(); }

 private:
  void open();

  Simulation& simulation_;
  SimulatedNetwork& network_;
  std::unique_ptr<SimulatedDisk> disk_ = std::make_unique<SimulatedDisk>();
  std::unique_ptr<LocalMetaStore> store_;
  Process process_ = 0;
};

// A way from a process to the meta store. A watch asks again and again until its time is over.
class SimulatedMeta final : public MetaStore {
 public:
  SimulatedMeta(Simulation& simulation, SimulatedNetwork& network, Process from,
                SimulatedMetaServer& server)
      : simulation_(simulation), network_(network), from_(from), server_(server) {}

  Result<std::optional<MetaValue>> get(std::string_view key) override;
  Result<std::optional<std::uint64_t>> swap(std::string_view key, std::uint64_t expected,
                                            std::optional<std::string_view> bytes) override;
  Result<MetaChanges> watch(std::string_view prefix, std::uint64_t after,
                            SteadyTime until) override;

 private:
  template <typename T>
  Result<T> ask(const std::string& what, std::function<Result<T>(LocalMetaStore&)> serve);

  Simulation& simulation_;
  SimulatedNetwork& network_;
  Process from_;
  SimulatedMetaServer& server_;
};

}  // namespace kin::router
