// Power is cut at every step of small runs of the seen set, and each state that a machine could
// wake up in is opened, checked, written on and cut again.
#include <gtest/gtest.h>

#include "store/testing/seen_fixture.h"

namespace kin::store {
namespace {

using Mode = SeenOptions::Mode;

class SeenPower : public testing::TestWithParam<IdKind> {
 protected:
  SeenOptions options(Disk& disk, Mode mode = Mode::kOpenOrMake) const {
    return with_mode(small_set(disk, GetParam()), mode);
  }

  std::unique_ptr<SeenUnderTest> fresh() const {
    return std::make_unique<SeenUnderTest>(GetParam());
  }
};

INSTANTIATE_TEST_SUITE_P(Kinds, SeenPower, testing::Values(IdKind::kNumber, IdKind::kText),
                         name_of_kind);

TEST_P(SeenPower, EverythingCommittedSurvivesACutAtEveryStep) {
  Durability(fresh()).cut_power_at_every_step(260);
}

TEST_P(SeenPower, ASecondOpeningSurvivesACutAtEveryStep) {
  Durability(fresh()).cut_power_at_every_step_of_a_second_run(130, 40);
}

TEST_P(SeenPower, AReaderBesideTheWriterSeesEverythingCommittedAtEveryStep) {
  SimulatedDisk disk;
  SeenHistory history;
  disk.observe([&](const SimulatedDisk::Step& step) {
    if (HasFailure() || history.acknowledged_count() == 0) return;
    SCOPED_TRACE(name_of(step));
    auto reading = SeenSet::open(kSetFolder, options(disk, Mode::kRead));
    ASSERT_TRUE(reading.ok()) << reading.error().message;
    history.expect_kept(**reading);
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
      SCOPED_TRACE(name_of(step) + ", " + name_of(cut));
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
