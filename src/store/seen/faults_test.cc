// The k-th change of a small run of the seen set fails, for every k and every kind of change.
#include <gtest/gtest.h>

#include "store/testing/seen_fixture.h"

namespace kin::store {
namespace {

using Mode = SeenOptions::Mode;
using Operation = SimulatedDisk::Operation;
using Fault = SimulatedDisk::Fault;
using testing::HasSubstr;

constexpr std::uint64_t kStranger = 1'000'000;

class SeenFaults : public testing::TestWithParam<IdKind> {
 protected:
  SeenOptions options(Disk& disk, Mode mode = Mode::kOpenOrMake) const {
    return with_mode(small_set(disk, GetParam()), mode);
  }

  std::unique_ptr<SeenUnderTest> fresh() const {
    return std::make_unique<SeenUnderTest>(GetParam());
  }
};

INSTANTIATE_TEST_SUITE_P(Kinds, SeenFaults, testing::Values(IdKind::kNumber, IdKind::kText),
                         name_of_kind);

constexpr std::uint64_t kCount = 230;

TEST_P(SeenFaults, EveryChangeMayFailOnce) {
  Durability durability(fresh());
  durability.fail_every_call({}, kCount);
  EXPECT_GT(durability.figures().faults, 200U / kStride);
}

TEST_P(SeenFaults, TheDiskMayDieAtEveryChange) {
  Durability durability(fresh());
  durability.fail_every_call({.for_good = true}, kCount);
  EXPECT_GT(durability.figures().faults, 200U / kStride);
}

TEST_P(SeenFaults, EveryKindOfChangeMayFailForGood) {
  Durability(fresh()).fail_every_kind_of_change(kCount);
}

TEST_P(SeenFaults, OnlyRemovalsMayFailWithoutAnError) {
  Durability(fresh()).expect_errors_of({Operation::kCreate, Operation::kAppend, Operation::kSync,
                                        Operation::kRename, Operation::kSyncFolder},
                                       kCount);
}

// Data dropped by a failed sync can still be read when the set is opened again; only the next power
// cut shows that it is lost.
TEST_P(SeenFaults, WhatAFailedSyncDroppedIsNotBuiltUpon) {
  SimulatedDisk disk;
  SeenHistory history;
  SeenOptions large = options(disk);
  large.table_ids = 5000;
  std::uint64_t more = 0;
  {
    auto set = *SeenSet::open(kSetFolder, large);
    ASSERT_TRUE(history.write_on(*set, 40).ok());
    disk.fail(Fault{.only = Operation::kSync});
    for (; more < 1000; ++more) ASSERT_TRUE(set->insert(nth_id(*set, kStranger + more)).ok());
    ASSERT_FALSE(set->commit().ok());
  }
  history.crash();
  auto set = *SeenSet::open(kSetFolder, large);
  ASSERT_TRUE(history.write_on(*set, 10).ok());
  ASSERT_EQ(set->stats().flushes, 0U) << "a run was written, so that the log is not asked";
  std::vector<std::uint8_t> kept(more, 0);
  for (std::uint64_t i = 0; i < more; ++i)
    kept[i] = *set->contains(nth_id(*set, kStranger + i)) ? 1 : 0;
  for (const PowerCut& cut : every_cut(9, 3)) {
    SCOPED_TRACE(name_of(cut));
    const auto woken = disk.power_cut(cut);
    SeenOptions again = large;
    again.disk = woken.get();
    auto woken_set = SeenSet::open(kSetFolder, again);
    ASSERT_TRUE(woken_set.ok()) << woken_set.error().message;
    for (std::uint64_t n = 0; n < history.attempted(); ++n)
      ASSERT_TRUE(*(*woken_set)->contains(nth_id(**woken_set, n))) << "id " << n << " is lost";
    // An id that was found before a successful commit is as durable as that commit.
    for (std::uint64_t i = 0; i < more; ++i)
      ASSERT_EQ(*(*woken_set)->contains(nth_id(**woken_set, kStranger + i)), kept[i] == 1);
    const Status verified = (*woken_set)->verify();
    ASSERT_TRUE(verified.ok()) << verified.error().message;
  }
}

TEST_P(SeenFaults, AFailedReadIsAnErrorAndNeverAnAnswer) {
  SimulatedDisk disk;
  SeenHistory history;
  {
    auto set = *SeenSet::open(kSetFolder, options(disk));
    ASSERT_TRUE(history.write_on(*set, 130).ok());
    ASSERT_TRUE(history.close(*set).ok());
  }
  int struck_reads = 0;
  bool struck = true;
  for (std::uint64_t k = 1; struck; ++k) {
    SCOPED_TRACE("read " + std::to_string(k) + " fails");
    const std::uint64_t before = disk.failures();
    disk.fail(Fault{.nth = k, .only = Operation::kRead});
    auto set = SeenSet::open(kSetFolder, options(disk, Mode::kRead));
    bool failed = !set.ok();
    for (std::uint64_t n = 0; !failed && n < history.attempted() + 20; ++n) {
      const auto found = (*set)->contains(nth_id(**set, n));
      failed = !found.ok();
      ASSERT_TRUE(failed || *found == (n < history.attempted())) << "id " << n;
    }
    struck = disk.failures() > before;
    if (struck) ++struck_reads;
    disk.fail(std::nullopt);
    history.expect_kept(**SeenSet::open(kSetFolder, options(disk, Mode::kRead)));
  }
  EXPECT_GT(struck_reads, 20);
}

TEST_P(SeenFaults, ASecondWriterIsRefusedUntilTheFirstIsGone) {
  SimulatedDisk disk;
  auto first = *SeenSet::open(kSetFolder, options(disk));
  for (const Mode mode : {Mode::kOpenOrMake, Mode::kOpen, Mode::kFresh}) {
    const auto second = SeenSet::open(kSetFolder, options(disk, mode));
    ASSERT_FALSE(second.ok());
    EXPECT_EQ(second.error().code, Code::kFailedPrecondition);
    EXPECT_THAT(second.error().message, HasSubstr(kSetFolder.string()));
  }
  EXPECT_TRUE(SeenSet::open(kSetFolder, options(disk, Mode::kRead)).ok());
  ASSERT_TRUE(first->insert(nth_id(*first, 1)).ok());
  ASSERT_TRUE(first->close().ok());
  first.reset();
  EXPECT_EQ((*SeenSet::open(kSetFolder, options(disk)))->len(), 1U);
}

}  // namespace
}  // namespace kin::store
