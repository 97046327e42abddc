#include "base/testing/durability.h"

#include <gtest/gtest.h>

#include "base/hash.h"

namespace kin {
namespace fs = std::filesystem;
namespace {

using Operation = SimulatedDisk::Operation;
using Fault = SimulatedDisk::Fault;

bool failed() {
  return testing::Test::HasFailure();
}

void expect_ok(const Status& status) {
  EXPECT_TRUE(status.ok()) << status.error().message;
}

void record(const char* name, std::uint64_t figure) {
  testing::Test::RecordProperty(name, static_cast<int>(figure));
}

// Failing writes leave prefixes of different lengths; failures are of two kinds.
Fault nth_fault(std::uint64_t k, const Durability::Calls& calls) {
  static constexpr std::uint64_t kPrefixes[] = {0, 1, 40, 600, 1'000'000};
  return {.nth = k,
          .only = calls.only,
          .error_number = k % 2 == 0 ? ENOSPC : EIO,
          .write_prefix = kPrefixes[k % std::size(kPrefixes)],
          .for_good = calls.for_good};
}

}  // namespace

std::string name_of(Operation operation) {
  switch (operation) {
    case Operation::kCreate: return "create";
    case Operation::kAppend: return "append";
    case Operation::kWriteAt: return "write at";
    case Operation::kSync: return "sync";
    case Operation::kTruncate: return "truncate";
    case Operation::kRename: return "rename";
    case Operation::kRemove: return "remove";
    case Operation::kMakeFolder: return "make folder";
    case Operation::kSyncFolder: return "sync folder";
    case Operation::kRead: return "read";
  }
  return "";
}

std::string name_of(const PowerCut& cut) {
  static constexpr const char* kBytes[] = {"lost", "kept", "prefix", "torn", "shuffled", "any"};
  static constexpr const char* kNames[] = {"lost", "kept", "any"};
  return std::string("power cut, bytes ") + kBytes[static_cast<int>(cut.bytes)] + ", names " +
         kNames[static_cast<int>(cut.names)] + ", seed " + std::to_string(cut.seed);
}

std::string name_of(const SimulatedDisk::Step& step) {
  return "before step " + std::to_string(step.number) + ": " + name_of(step.operation) + " " +
         step.path.string();
}

std::vector<PowerCut> every_cut(std::uint64_t seed, std::uint64_t draws) {
  std::vector<PowerCut> cuts;
  for (const UnsyncedNames names :
       {UnsyncedNames::kLost, UnsyncedNames::kKept, UnsyncedNames::kAny}) {
    for (const UnsyncedBytes bytes :
         {UnsyncedBytes::kLost, UnsyncedBytes::kKept, UnsyncedBytes::kPrefix, UnsyncedBytes::kTorn,
          UnsyncedBytes::kShuffled, UnsyncedBytes::kAny}) {
      const bool certain = names != UnsyncedNames::kAny &&
                           (bytes == UnsyncedBytes::kLost || bytes == UnsyncedBytes::kKept);
      for (std::uint64_t i = 0; i < (certain ? 1 : draws); ++i)
        cuts.push_back({bytes, names, mix64(seed * 1000 + i + 1)});
    }
  }
  return cuts;
}

Durability::~Durability() {
  record("steps", figures_.steps);
  record("recoveries", figures_.recoveries);
  record("repeated", figures_.repeated);
  record("second_cuts", figures_.second_cuts);
  record("faults", figures_.faults);
  record("unharmed", figures_.unharmed);
}

void Durability::expect_recovery(SimulatedDisk& disk, const StoreUnderTest& store) {
  ++figures_.recoveries;
  const auto woken = store.after_crash();
  const Status opened = woken->open(disk);
  expect_ok(opened);
  if (opened.ok()) woken->expect_kept();
}

void Durability::expect_recovery_once(SimulatedDisk& disk, const StoreUnderTest& store,
                                      const Hash128& expected) {
  if (!right_.emplace(disk.digest(), expected).second) {
    ++figures_.recoveries;
    ++figures_.repeated;
    return;
  }
  expect_recovery(disk, store);
}

Hash128 Durability::expected_of(const StoreUnderTest& store) {
  return store.expected().value_or(Hash128{.low = ++unknown_});
}

// The second run loses its power at a step drawn by `random`, or at its end.
void Durability::write_on_and_cut(SimulatedDisk& disk, const StoreUnderTest& store,
                                  Random& random) {
  const auto again = store.after_crash();
  std::unique_ptr<SimulatedDisk> second;
  std::unique_ptr<StoreUnderTest> known;
  const auto cut = [&] {
    second = disk.power_cut({.seed = random.next()});
    known = again->after_crash();
  };
  // May lie beyond the end of the run. Then the power goes when the run is done.
  const std::uint64_t when = disk.steps() + 1 + random.below(80);
  disk.observe([&](const SimulatedDisk::Step& step) {
    // The disk is copied and goes on: the run itself never notices the cut.
    if (step.number == when) cut();
  });
  expect_ok(again->open(disk));
  if (failed()) return;
  expect_ok(again->write_on(60));
  disk.observe({});
  if (second == nullptr) cut();
  expect_recovery(*second, *known);
  ++figures_.second_cuts;
}

void Durability::cut_every_way(const SimulatedDisk& disk, const StoreUnderTest& store,
                               std::uint64_t draws) {
  Random random(disk.steps());
  const Hash128 expected = expected_of(store);
  for (const PowerCut& cut : every_cut(disk.steps(), draws)) {
    SCOPED_TRACE(name_of(cut));
    const auto woken = disk.power_cut(cut);
    // A second run after every cut would take too long, so a quarter of them is drawn. It begins
    // with what opening the store has left.
    const bool is_drawn = random.below(4) == 0;
    if (is_drawn)
      expect_recovery(*woken, store);
    else
      expect_recovery_once(*woken, store, expected);
    if (!failed() && is_drawn) write_on_and_cut(*woken, store, random);
    if (failed()) return;
  }
}

void Durability::observe_cuts(SimulatedDisk& disk, const StoreUnderTest& store) {
  disk.observe([&](const SimulatedDisk::Step& step) {
    if (failed() || step.number % kStride != 0) return;
    SCOPED_TRACE(name_of(step));
    ++figures_.steps;
    cut_every_way(disk, store, 1);
  });
}

void Durability::cut_power_at_every_step(std::uint64_t count) {
  SimulatedDisk disk;
  const auto store = fresh_->after_crash();
  observe_cuts(disk, *store);
  expect_ok(store->open(disk));
  expect_ok(store->write_on(count));
  store->expect_varied();
  expect_ok(store->close());
  disk.observe({});
  if (!failed()) cut_every_way(disk, *store, 5);
}

void Durability::cut_power_at_every_step_of_a_second_run(std::uint64_t before,
                                                         std::uint64_t count) {
  SimulatedDisk first;
  const auto writer = fresh_->after_crash();
  expect_ok(writer->open(first));
  expect_ok(writer->write_on(before));
  // Leaves unsynced writes cut at a sector, so that the second run begins with a recovery.
  const auto disk = first.power_cut({UnsyncedBytes::kTorn, UnsyncedNames::kKept, 3});
  const auto store = writer->after_crash();
  observe_cuts(*disk, *store);
  expect_ok(store->open(*disk));
  if (failed()) return;
  expect_ok(store->write_on(count));
  expect_ok(store->close());
  disk->observe({});
}

struct Durability::Run {
  std::unique_ptr<SimulatedDisk> disk = std::make_unique<SimulatedDisk>();
  std::unique_ptr<StoreUnderTest> store;
  std::optional<Error> error;  // the first

  void note(const Status& status) {
    if (!status.ok() && !error) error = status.error();
  }
};

Durability::Run Durability::run_with(const Fault& fault, std::uint64_t count) {
  Run run;
  run.store = fresh_->after_crash();
  run.disk->fail(fault);
  run.note(run.store->open(*run.disk));
  if (!run.error) run.note(run.store->write_on(count));
  if (!run.error) run.note(run.store->close());
  return run;
}

// Opens the store, writes on, and cuts the power before every step of that.
void Durability::write_on_and_cut_at_every_step(SimulatedDisk& disk, const StoreUnderTest& store) {
  const auto again = store.after_crash();
  disk.observe([&](const SimulatedDisk::Step& step) {
    if (failed()) return;
    const PowerCut cut{.seed = mix64(step.number * 1000 + figures_.faults)};
    SCOPED_TRACE(name_of(step) + ", " + name_of(cut));
    expect_recovery_once(*disk.power_cut(cut), *again, expected_of(*again));
  });
  ++figures_.recoveries;
  expect_ok(again->open(disk));
  if (failed()) return;
  again->expect_kept();
  expect_ok(again->write_on(25));
  again->expect_kept();
  disk.observe({});
  for (const PowerCut& cut :
       {PowerCut{UnsyncedBytes::kLost, UnsyncedNames::kLost},
        PowerCut{UnsyncedBytes::kKept, UnsyncedNames::kLost}, PowerCut{.seed = disk.steps()}}) {
    SCOPED_TRACE("after recovery, " + name_of(cut));
    expect_recovery_once(*disk.power_cut(cut), *again, expected_of(*again));
  }
}

// False if the fault never struck, or the test has failed.
bool Durability::survives(const Fault& fault, std::uint64_t count) {
  Run run = run_with(fault, count);
  // There is no k-th call any more: all of them have been tried.
  if (run.disk->failures() == 0) return false;
  ++figures_.faults;
  if (!run.error) ++figures_.unharmed;
  if (run.error && run.store->is_open()) run.store->expect_after(*run.error);
  run.store->drop();
  run.disk->fail(std::nullopt);
  const Hash128 expected = expected_of(*run.store);
  // The process may die because of the failure, and the power may go before it does.
  for (const PowerCut& cut : every_cut(figures_.faults, 1)) {
    SCOPED_TRACE(name_of(cut));
    expect_recovery_once(*run.disk->power_cut(cut), *run.store, expected);
    if (failed()) return false;
  }
  SCOPED_TRACE("without a power cut");
  write_on_and_cut_at_every_step(*run.disk, *run.store);
  return !failed();
}

void Durability::fail_every_call(const Calls& calls, std::uint64_t count) {
  const std::string what =
      calls.only ? name_of(*calls.only) + " number " : std::string("change number ");
  // Ends when survives() finds no k-th call.
  for (std::uint64_t k = 1;; k += kStride) {
    SCOPED_TRACE(what + std::to_string(k) + (calls.for_good ? " and all after it fail" : " fails"));
    if (!survives(nth_fault(k, calls), count)) return;
  }
}

void Durability::fail_every_kind_of_change(std::uint64_t count) {
  for (const Operation kind : SimulatedDisk::kChanges) {
    fail_every_call({.only = kind, .for_good = true}, count);
    if (failed()) return;
  }
}

void Durability::fail_every_kind_of_call(std::uint64_t count) {
  fail_every_kind_of_change(count);
  if (!failed()) fail_every_call({.only = Operation::kRead}, count);
}

void Durability::expect_errors_of(std::initializer_list<Operation> kinds, std::uint64_t count) {
  for (const Operation kind : kinds) {
    for (std::uint64_t k = 1;; ++k) {
      const Run run = run_with(nth_fault(k, {.only = kind}), count);
      if (run.disk->failures() == 0) break;
      ++figures_.faults;
      EXPECT_TRUE(run.error) << name_of(kind) << " " << k << " failed without an error";
    }
  }
}

Rot::~Rot() {
  std::uint64_t examined = 0;
  for (const std::uint64_t outcome : outcomes_) examined += outcome;
  record("examined", examined);
  record("refused", count(RotOutcome::kRefused));
  record("reported", count(RotOutcome::kReported));
  record("healed", count(RotOutcome::kHealed));
  record("unnoticed", count(RotOutcome::kUnnoticed));
}

void Rot::examine_copy(const Damage& damage, const Examine& examine) {
  if (failed()) return;
  const auto copy = disk_.power_cut({});
  damage(*copy);
  note(examine(*copy));
}

void Rot::flip_bits(const Flips& flips, const Examine& examine) {
  for (const fs::path& path : files_) {
    const std::uint64_t size = read_whole(disk_, path)->size();
    for (std::uint64_t byte = 0; byte < size; byte += flips.stride) {
      // Another bit in each byte, so that all eight are tried.
      const std::uint64_t bit = byte * 8 + byte % 8;
      SCOPED_TRACE(path.string() + ", bit " + std::to_string(bit));
      if (flips.copies) {
        examine_copy([&](SimulatedDisk& disk) { disk.flip_bit(path, bit); }, examine);
      } else {
        disk_.flip_bit(path, bit);
        note(examine(disk_));
        disk_.flip_bit(path, bit);
      }
      if (failed()) return;
    }
  }
}

void Rot::cut_files_short(const Examine& examine) {
  for (const fs::path& path : files_) {
    const std::string whole = *read_whole(disk_, path);
    // Every length at first, then ever larger steps: the interesting cuts are in headers.
    for (std::uint64_t size = 0; size < whole.size(); size += 1 + size / 7) {
      SCOPED_TRACE(path.string() + " cut to " + std::to_string(size) + " bytes");
      examine_copy([&](SimulatedDisk& disk) { disk.replace(path, whole.substr(0, size)); },
                   examine);
    }
  }
}

void Rot::lose_files(const Examine& examine) {
  for (const fs::path& path : files_) {
    // Losing an empty file, such as a lock, loses nothing.
    if (read_whole(disk_, path)->empty()) continue;
    SCOPED_TRACE(path.string() + " is lost");
    examine_copy([&](SimulatedDisk& disk) { expect_ok(disk.remove(path)); }, examine);
  }
}

void Rot::exchange_files(const Examine& examine) {
  for (const fs::path& one : files_) {
    for (const fs::path& other : files_) {
      // Each pair once.
      if (one >= other) continue;
      SCOPED_TRACE(one.string() + " and " + other.string() + " are exchanged");
      examine_copy(
          [&](SimulatedDisk& disk) {
            disk.replace(one, *read_whole(disk_, other));
            disk.replace(other, *read_whole(disk_, one));
          },
          examine);
    }
  }
}

}  // namespace kin
