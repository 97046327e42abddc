// Durability tests for stores with threads of their own.
#pragma once

#include <memory>
#include <vector>

#include "base/testing/durability.h"

namespace kin::kv {

// The power cuts that RocksDB survives: unsynced bytes of a file reach the device in order, as file
// systems with ordered data write them. It takes other ends of its manifest for damage.
std::vector<PowerCut> ordered_cuts();

// As Durability, except that the states of the disk are collected during a run and examined after
// it: a store that is opened while a thread of another one waits could wait for that thread.
// StoreUnderTest::after_crash() is called from any thread of the store, and must accept changes
// that begin while it is called. Stops at the first failure of the running test.
class ThreadedDurability {
 public:
  // `cuts` take turns, with a new seed each time.
  ThreadedDurability(std::unique_ptr<StoreUnderTest> fresh, std::vector<PowerCut> cuts)
      : fresh_(std::move(fresh)), cuts_(std::move(cuts)) {}
  // Records the figures as properties of the running test.
  ~ThreadedDurability();

  // Before every change of a run of `count` changes the power is cut in `ways` ways.
  void cut_power_at_every_step(std::uint64_t count, std::size_t ways);
  // Runs of `count` changes; in the k-th the k-th call fails, until there is no k-th call. After
  // each the power is cut in `ways` ways, and the store is opened and written on.
  void fail_every_call(const Durability::Calls& calls, std::uint64_t count, std::size_t ways);

  const DurabilityFigures& figures() const { return figures_; }

 private:
  void expect_recovery(SimulatedDisk& disk, const StoreUnderTest& store);
  bool survives(const SimulatedDisk::Fault& fault, std::uint64_t count, std::size_t ways);
  PowerCut next_cut();

  std::unique_ptr<StoreUnderTest> fresh_;
  std::vector<PowerCut> cuts_;
  std::uint64_t turn_ = 0;
  DurabilityFigures figures_;
};

}  // namespace kin::kv
