#include "kv/testing/threaded_durability.h"

#include <gtest/gtest.h>

#include <mutex>

#include "base/hash.h"

namespace kin::kv {
namespace {

bool failed() {
  return testing::Test::HasFailure();
}

void expect_ok(const Status& status) {
  EXPECT_TRUE(status.ok()) << status.error().message;
}

struct Collected {
  std::string what;
  std::unique_ptr<SimulatedDisk> disk;
  std::unique_ptr<StoreUnderTest> store;
};

}  // namespace

std::vector<PowerCut> ordered_cuts() {
  std::vector<PowerCut> cuts = every_cut(1, 1);
  std::erase_if(cuts, [](const PowerCut& cut) {
    return cut.bytes == UnsyncedBytes::kShuffled || cut.bytes == UnsyncedBytes::kAny;
  });
  return cuts;
}

ThreadedDurability::~ThreadedDurability() {
  testing::Test::RecordProperty("steps", static_cast<int>(figures_.steps));
  testing::Test::RecordProperty("recoveries", static_cast<int>(figures_.recoveries));
  testing::Test::RecordProperty("faults", static_cast<int>(figures_.faults));
  testing::Test::RecordProperty("unharmed", static_cast<int>(figures_.unharmed));
}

PowerCut ThreadedDurability::next_cut() {
  PowerCut cut = cuts_[turn_++ % cuts_.size()];
  cut.seed = mix64(turn_);
  return cut;
}

void ThreadedDurability::expect_recovery(SimulatedDisk& disk, const StoreUnderTest& store) {
  ++figures_.recoveries;
  const auto woken = store.after_crash();
  const Status opened = woken->open(disk);
  expect_ok(opened);
  if (opened.ok()) woken->expect_kept();
}

void ThreadedDurability::cut_power_at_every_step(std::uint64_t count, std::size_t ways) {
  std::vector<Collected> collected;
  {
    SimulatedDisk disk;
    const auto store = fresh_->after_crash();
    std::mutex collecting;
    disk.observe([&](const SimulatedDisk::Step& step) {
      const std::lock_guard lock(collecting);
      if (step.number % kStride != 0) return;
      ++figures_.steps;
      for (std::size_t i = 0; i < ways; ++i) {
        const PowerCut cut = next_cut();
        // The model first: what is acknowledged in it is on the disk then.
        auto known = store->after_crash();
        collected.push_back(
            {name_of(step) + ", " + name_of(cut), disk.power_cut(cut), std::move(known)});
      }
    });
    expect_ok(store->open(disk));
    expect_ok(store->write_on(count));
    store->expect_varied();
    expect_ok(store->close());
    store->drop();
    disk.observe({});
  }
  for (const Collected& state : collected) {
    SCOPED_TRACE(state.what);
    if (failed()) return;
    expect_recovery(*state.disk, *state.store);
  }
}

bool ThreadedDurability::survives(const SimulatedDisk::Fault& fault, std::uint64_t count,
                                  std::size_t ways) {
  SimulatedDisk disk;
  const auto store = fresh_->after_crash();
  disk.fail(fault);
  std::optional<Error> error;
  const auto note = [&](const Status& status) {
    if (!status.ok()) error = status.error();
  };
  note(store->open(disk));
  if (!error) note(store->write_on(count));
  if (!error) note(store->close());
  if (disk.failures() == 0) return false;
  ++figures_.faults;
  if (!error) ++figures_.unharmed;
  if (error && store->is_open()) store->expect_after(*error);
  store->drop();
  disk.fail(std::nullopt);
  for (std::size_t i = 0; i < ways && !failed(); ++i) {
    const PowerCut cut = next_cut();
    SCOPED_TRACE(name_of(cut));
    expect_recovery(*disk.power_cut(cut), *store);
  }
  if (failed()) return false;
  SCOPED_TRACE("without a power cut");
  const auto again = store->after_crash();
  expect_ok(again->open(disk));
  if (failed()) return false;
  again->expect_kept();
  expect_ok(again->write_on(10));
  again->expect_kept();
  again->drop();
  ++figures_.recoveries;
  const PowerCut cut = next_cut();
  SCOPED_TRACE("after recovery, " + name_of(cut));
  expect_recovery(*disk.power_cut(cut), *again);
  return !failed();
}

void ThreadedDurability::fail_every_call(const Durability::Calls& calls, std::uint64_t count,
                                         std::size_t ways) {
  for (std::uint64_t k = 1;; k += kStride) {
    static constexpr std::uint64_t kPrefixes[] = {0, 1, 40, 600, 1'000'000};
    SCOPED_TRACE("call " + std::to_string(k) +
                 (calls.for_good ? " and all after it fail" : " fails"));
    const SimulatedDisk::Fault fault{.nth = k,
                                     .only = calls.only,
                                     .error_number = k % 2 == 0 ? ENOSPC : EIO,
                                     .write_prefix = kPrefixes[k % std::size(kPrefixes)],
                                     .for_good = calls.for_good};
    if (!survives(fault, count, ways)) return;
  }
}

}  // namespace kin::kv
