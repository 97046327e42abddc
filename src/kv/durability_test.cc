// Power cuts and failing calls at every step of small runs of both engines.
#include <gtest/gtest.h>

#include "kv/testing/modelled_store.h"
#include "kv/testing/threaded_durability.h"

namespace kin::kv {
namespace {

using Engine = StoreOptions::Engine;
using Operation = SimulatedDisk::Operation;

std::unique_ptr<StoreUnderTest> fresh(Engine engine) {
  return std::make_unique<KeyValuesUnderTest>(engine);
}

TEST(LogDurability, AcknowledgedChangesSurviveAPowerCutAtEveryStep) {
  Durability(fresh(Engine::kLog)).cut_power_at_every_step(75);
}

TEST(LogDurability, ASecondRunSurvivesAPowerCutAtEveryStep) {
  Durability(fresh(Engine::kLog)).cut_power_at_every_step_of_a_second_run(40, 20);
}

TEST(LogDurability, EveryCallMayFail) {
  Durability(fresh(Engine::kLog)).fail_every_call({}, 45);
}

TEST(LogDurability, TheDiskMayDieAtEveryCall) {
  Durability(fresh(Engine::kLog)).fail_every_call({.for_good = true}, 45);
}

TEST(LogDurability, EveryKindOfCallMayFail) {
  Durability(fresh(Engine::kLog)).fail_every_kind_of_call(25);
}

TEST(LogDurability, NoFailureIsSilent) {
  Durability(fresh(Engine::kLog))
      .expect_errors_of({Operation::kCreate, Operation::kAppend, Operation::kSync,
                         Operation::kRename, Operation::kSyncFolder, Operation::kRead},
                        25);
}

TEST(RocksDurability, AcknowledgedChangesSurviveAPowerCutAtEveryStep) {
  ThreadedDurability(fresh(Engine::kRocksDb), ordered_cuts()).cut_power_at_every_step(40, 1);
}

TEST(RocksDurability, EveryCallMayFail) {
  ThreadedDurability(fresh(Engine::kRocksDb), ordered_cuts()).fail_every_call({}, 14, 1);
}

TEST(LogDurability, NoFlippedBitChangesAnAnswer) {
  SimulatedDisk disk;
  KeyValuesUnderTest store(Engine::kLog);
  ASSERT_TRUE(store.open(disk).ok());
  ASSERT_TRUE(store.write_on(14).ok());
  ASSERT_TRUE(store.close().ok());
  Rot rot(disk);
  rot.flip_bits({.stride = 5}, [&](SimulatedDisk& damaged) {
    const Status opened = store.after_crash()->open(damaged);
    if (opened.ok()) return RotOutcome::kUnnoticed;
    const Code code = opened.error().code;  // another version, if the version is damaged
    EXPECT_TRUE(code == Code::kDataLoss || code == Code::kFailedPrecondition);
    return RotOutcome::kRefused;
  });
  // Damage to the final seal goes unnoticed; the seal holds no data.
  EXPECT_LE(rot.count(RotOutcome::kUnnoticed), 5U);
  EXPECT_GT(rot.count(RotOutcome::kRefused), 500U);
}

// CURRENT names a manifest: whatever order names reach the device in, it must be there.
TEST(RocksDurability, AStoreWhoseCreationFailedAndLostPowerIsMadeAgain) {
  for (std::uint64_t k = 1;; ++k) {
    SimulatedDisk disk;
    disk.fail(SimulatedDisk::Fault{.nth = k, .only = Operation::kSyncFolder, .for_good = true});
    (void)fresh(Engine::kRocksDb)->open(disk);
    if (disk.failures() == 0) break;
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      SCOPED_TRACE("sync of a folder " + std::to_string(k) + ", seed " + std::to_string(seed));
      const auto cut = disk.power_cut({UnsyncedBytes::kKept, UnsyncedNames::kAny, seed});
      const Status opened = fresh(Engine::kRocksDb)->open(*cut);
      ASSERT_TRUE(opened.ok()) << opened.error().message;
    }
  }
}

}  // namespace
}  // namespace kin::kv
