// Power is cut at every step of small runs of the seen set, and each state that a machine could
// wake up in is opened, checked, written on and cut again.
#include <gtest/gtest.h>

#include "base/random.h"
#include "store/testing/seen_fixture.h"

namespace kin::store {
namespace {

using Mode = SeenOptions::Mode;

class SeenPower : public testing::TestWithParam<IdKind> {
 protected:
  SeenOptions options(Disk& disk, Mode mode = Mode::kOpenOrMake) const {
    return with_mode(small_set(disk, GetParam()), mode);
  }

  // Opens what the cut left, to read if there is something to read and then to write, and expects
  // everything acknowledged in it.
  std::unique_ptr<SeenSet> recover(SimulatedDisk& disk, const SeenHistory& history) {
    ++recoveries_;
    if (history.acknowledged_count() > 0) {
      auto reading = SeenSet::open(kSetFolder, options(disk, Mode::kRead));
      EXPECT_TRUE(reading.ok()) << reading.error().message;
      if (reading.ok()) history.expect_kept(**reading);
    }
    auto set = SeenSet::open(kSetFolder, options(disk));
    EXPECT_TRUE(set.ok()) << set.error().message;
    if (!set.ok()) return nullptr;
    history.expect_kept(**set);
    return std::move(*set);
  }

  // Goes on after a cut, and loses the power again at a step drawn by `random`.
  void write_on_and_cut(SimulatedDisk& disk, SeenHistory history, Random& random) {
    history.crash();
    std::unique_ptr<SimulatedDisk> second;
    SeenHistory known;
    const std::uint64_t when = disk.steps() + 1 + random.below(80);
    disk.observe([&](const SimulatedDisk::Step& step) {
      if (step.number != when) return;
      second = disk.power_cut({.seed = random.next()});
      known = history;
    });
    auto set = SeenSet::open(kSetFolder, options(disk));
    ASSERT_TRUE(set.ok()) << set.error().message;
    const Status written = history.write_on(**set, 60);
    ASSERT_TRUE(written.ok()) << written.error().message;
    disk.observe({});
    if (second == nullptr) {
      second = disk.power_cut({.seed = random.next()});
      known = history;
    }
    known.crash();
    if (recover(*second, known) != nullptr) ++second_cuts_;
  }

  // Every cut of the disk as it is now.
  void cut_every_way(const SimulatedDisk& disk, SeenHistory history, std::uint64_t draws) {
    history.crash();
    Random random(disk.steps());
    for (const PowerCut& cut : every_cut(disk.steps(), draws)) {
      SCOPED_TRACE("power cut, " + name_of(cut));
      const auto woken = disk.power_cut(cut);
      recover(*woken, history).reset();
      if (random.below(4) == 0) write_on_and_cut(*woken, history, random);
      if (HasFailure()) return;
    }
  }

  void TearDown() override {
    RecordProperty("steps", static_cast<int>(steps_));
    RecordProperty("recoveries", static_cast<int>(recoveries_));
    RecordProperty("second_cuts", static_cast<int>(second_cuts_));
  }

  std::uint64_t steps_ = 0;
  std::uint64_t recoveries_ = 0;
  std::uint64_t second_cuts_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Kinds, SeenPower, testing::Values(IdKind::kNumber, IdKind::kText),
                         name_of_kind);

TEST_P(SeenPower, EverythingCommittedSurvivesACutAtEveryStep) {
  SimulatedDisk disk;
  SeenHistory history;
  disk.observe([&](const SimulatedDisk::Step& step) {
    if (HasFailure() || step.number % kStride != 0) return;
    SCOPED_TRACE("before step " + std::to_string(step.number) + ": " + name_of(step.operation) +
                 " " + step.path.string());
    ++steps_;
    cut_every_way(disk, history, 1);
  });
  auto set = *SeenSet::open(kSetFolder, options(disk));
  ASSERT_TRUE(history.write_on(*set, 260).ok());
  ASSERT_TRUE(set->settle().ok());
  EXPECT_GT(set->stats().merges, 2U) << "the run is too small to merge";
  EXPECT_GT(set->stats().flushes, 5U) << "the run is too small to write runs out";
  ASSERT_TRUE(history.close(*set).ok());
  set.reset();
  disk.observe({});
  cut_every_way(disk, history, 5);
}

TEST_P(SeenPower, ASecondOpeningSurvivesACutAtEveryStep) {
  SimulatedDisk first;
  SeenHistory history;
  {
    auto set = *SeenSet::open(kSetFolder, options(first));
    ASSERT_TRUE(history.write_on(*set, 130).ok());
  }
  history.crash();
  const auto disk = first.power_cut({UnsyncedBytes::kTorn, UnsyncedNames::kKept, 3});
  disk->observe([&](const SimulatedDisk::Step& step) {
    if (HasFailure() || step.number % kStride != 0) return;
    SCOPED_TRACE("before step " + std::to_string(step.number) + ": " + name_of(step.operation) +
                 " " + step.path.string());
    ++steps_;
    cut_every_way(*disk, history, 1);
  });
  auto set = *SeenSet::open(kSetFolder, options(*disk));
  ASSERT_TRUE(history.write_on(*set, 40).ok());
  ASSERT_TRUE(history.close(*set).ok());
}

TEST_P(SeenPower, AReaderBesideTheWriterSeesEverythingCommittedAtEveryStep) {
  SimulatedDisk disk;
  SeenHistory history;
  disk.observe([&](const SimulatedDisk::Step& step) {
    if (HasFailure() || history.acknowledged_count() == 0) return;
    SCOPED_TRACE("before step " + std::to_string(step.number) + ": " + name_of(step.operation));
    auto reading = SeenSet::open(kSetFolder, options(disk, Mode::kRead));
    ASSERT_TRUE(reading.ok()) << reading.error().message;
    history.expect_kept(**reading);
    ++steps_;
  });
  auto set = *SeenSet::open(kSetFolder, options(disk));
  ASSERT_TRUE(history.write_on(*set, 400).ok());
  ASSERT_TRUE(history.close(*set).ok());
}

TEST_P(SeenPower, ForgettingASetIsAllOrNothing) {
  SimulatedDisk disk;
  SeenHistory history;
  {
    auto set = *SeenSet::open(kSetFolder, options(disk));
    ASSERT_TRUE(history.write_on(*set, 130).ok());
    ASSERT_TRUE(history.close(*set).ok());
  }
  disk.observe([&](const SimulatedDisk::Step& step) {
    if (HasFailure()) return;
    for (const PowerCut& cut : every_cut(step.number, 2)) {
      SCOPED_TRACE("before step " + std::to_string(step.number) + ": " + name_of(step.operation) +
                   " " + step.path.string() + ", power cut, " + name_of(cut));
      const auto woken = disk.power_cut(cut);
      auto set = SeenSet::open(kSetFolder, options(*woken));
      ASSERT_TRUE(set.ok()) << set.error().message;
      if (!(*set)->empty()) {
        history.expect_kept(**set);
      } else {
        SeenHistory another;
        another.expect_kept(**set);
        ASSERT_TRUE(another.write_on(**set, 60).ok());
        another.expect_kept(**set);
      }
      ++recoveries_;
    }
  });
  auto set = *SeenSet::open(kSetFolder, options(disk, Mode::kFresh));
  EXPECT_TRUE(set->empty());
  disk.observe({});
  for (const PowerCut& cut : every_cut(77, 5)) {
    const auto woken = disk.power_cut(cut);
    auto again = SeenSet::open(kSetFolder, options(*woken));
    ASSERT_TRUE(again.ok()) << again.error().message;
    EXPECT_TRUE((*again)->empty()) << "a forgotten set is back";
  }
}

}  // namespace
}  // namespace kin::store
