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

  struct Run {
    SimulatedDisk disk;
    SeenHistory history;
    std::unique_ptr<SeenSet> set;  // nothing if it was not even opened
    std::optional<Error> error;

    void note(const Status& status) {
      if (!status.ok() && !error) error = status.error();
    }
  };

  // A small run of which one change fails.
  std::unique_ptr<Run> run_with(const Fault& fault) {
    auto run = std::make_unique<Run>();
    run->disk.fail(fault);
    auto set = SeenSet::open(kSetFolder, options(run->disk));
    if (!set.ok()) {
      run->error = set.error();
      return run;
    }
    run->set = std::move(*set);
    run->note(run->history.write_on(*run->set, 230));
    if (!run->error) run->note(run->set->settle());
    if (!run->error) run->note(run->history.flush(*run->set));
    if (!run->error) run->note(run->history.close(*run->set));
    if (!run->error) run->set.reset();
    return run;
  }

  // No write succeeds any more, and the error says what happened; look-ups go on.
  void expect_poisoned(Run& run) {
    SeenSet& set = *run.set;
    for (int again = 0; again < 2; ++again) {
      const auto inserted = set.insert(nth_id(set, kStranger));
      const auto committed = set.commit();
      const auto flushed = set.flush();
      ASSERT_FALSE(inserted.ok());
      ASSERT_FALSE(committed.ok());
      ASSERT_FALSE(flushed.ok());
      for (const Error& error : {inserted.error(), committed.error(), flushed.error()}) {
        EXPECT_THAT(error.message, HasSubstr("refuses writes since an earlier failure"));
        EXPECT_THAT(error.message, HasSubstr(cause_of(run)));
      }
    }
    for (std::uint64_t n = 0; n < run.history.attempted(); ++n) {
      if (!run.history.acknowledged(n)) continue;
      const auto found = set.contains(nth_id(set, n));
      ASSERT_TRUE(found.ok()) << found.error().message;
      ASSERT_TRUE(*found);
    }
  }
  static std::string cause_of(const Run& run) {
    return run.error->code == Code::kResourceExhausted ? "No space left" : "Input/output error";
  }

  // The power goes at every step that is made on the disk from now on.
  void cut_at_every_step(SimulatedDisk& disk, const SeenHistory& history) {
    disk.observe([&](const SimulatedDisk::Step& step) {
      if (HasFailure()) return;
      const PowerCut cut{.seed = mix64(step.number * 1000 + faults_)};
      SCOPED_TRACE("then a power cut before step " + std::to_string(step.number) + ", " +
                   name_of(step.operation) + " " + step.path.string() + ", " + name_of(cut));
      const auto woken = disk.power_cut(cut);
      auto set = SeenSet::open(kSetFolder, options(*woken));
      ASSERT_TRUE(set.ok()) << set.error().message;
      history.expect_kept(**set);
      ++recoveries_;
    });
  }

  // Opens, expects everything acknowledged, writes on and loses the power: still everything.
  void expect_recovery(SimulatedDisk& disk, SeenHistory history) {
    history.crash();
    ++recoveries_;
    cut_at_every_step(disk, history);
    auto set = SeenSet::open(kSetFolder, options(disk));
    ASSERT_TRUE(set.ok()) << set.error().message;
    history.expect_kept(**set);
    const Status written = history.write_on(**set, 25);
    ASSERT_TRUE(written.ok()) << written.error().message;
    history.expect_kept(**set);
    disk.observe({});
    for (const PowerCut& cut :
         {PowerCut{UnsyncedBytes::kLost, UnsyncedNames::kLost},
          PowerCut{UnsyncedBytes::kKept, UnsyncedNames::kLost}, PowerCut{.seed = disk.steps()}}) {
      SCOPED_TRACE("after recovery, " + name_of(cut));
      const auto woken = disk.power_cut(cut);
      auto again = SeenSet::open(kSetFolder, options(*woken));
      ASSERT_TRUE(again.ok()) << again.error().message;
      history.expect_kept(**again);
      ++recoveries_;
    }
  }

  // False once there is no k-th such change.
  bool check(const Fault& fault) {
    const auto run = run_with(fault);
    if (run->disk.failures() == 0) return false;
    ++faults_;
    if (run->error && run->set != nullptr) expect_poisoned(*run);
    if (!run->error) ++unharmed_;
    run->set.reset();
    run->disk.fail(std::nullopt);
    for (const PowerCut& cut : every_cut(faults_, 1)) {
      SCOPED_TRACE("power cut, " + name_of(cut));
      const auto woken = run->disk.power_cut(cut);
      auto set = SeenSet::open(kSetFolder, options(*woken));
      EXPECT_TRUE(set.ok()) << set.error().message;
      if (set.ok()) run->history.expect_kept(**set);
      if (HasFailure()) return false;
      ++recoveries_;
    }
    SCOPED_TRACE("without a power cut");
    expect_recovery(run->disk, run->history);
    return !HasFailure();
  }

  static Fault nth_fault(std::uint64_t k) {
    static constexpr std::uint64_t kPrefixes[] = {0, 1, 40, 600, 1'000'000};
    return {.nth = k,
            .error_number = k % 2 == 0 ? ENOSPC : EIO,
            .write_prefix = kPrefixes[k % std::size(kPrefixes)]};
  }

  void TearDown() override {
    RecordProperty("faults", static_cast<int>(faults_));
    RecordProperty("recoveries", static_cast<int>(recoveries_));
    RecordProperty("unharmed", static_cast<int>(unharmed_));
  }

  std::uint64_t faults_ = 0;
  std::uint64_t recoveries_ = 0;
  std::uint64_t unharmed_ = 0;  // runs that could do without the change that failed
};

INSTANTIATE_TEST_SUITE_P(Kinds, SeenFaults, testing::Values(IdKind::kNumber, IdKind::kText),
                         name_of_kind);

TEST_P(SeenFaults, EveryChangeMayFailOnce) {
  for (std::uint64_t k = 1;; k += kStride) {
    SCOPED_TRACE("change " + std::to_string(k) + " fails");
    if (!check(nth_fault(k))) break;
  }
  EXPECT_GT(faults_, 200U / kStride);
}

TEST_P(SeenFaults, TheDiskMayDieAtEveryChange) {
  for (std::uint64_t k = 1;; k += kStride) {
    SCOPED_TRACE("everything from change " + std::to_string(k) + " on fails");
    Fault fault = nth_fault(k);
    fault.for_good = true;
    if (!check(fault)) break;
  }
  EXPECT_GT(faults_, 200U / kStride);
}

TEST_P(SeenFaults, EveryKindOfChangeMayFailForGood) {
  for (const Operation kind : SimulatedDisk::kChanges) {
    for (std::uint64_t k = 1;; k += kStride) {
      SCOPED_TRACE("every " + name_of(kind) + " from number " + std::to_string(k) + " on fails");
      Fault fault = nth_fault(k);
      fault.only = kind;
      fault.for_good = true;
      if (!check(fault)) break;
    }
    if (HasFailure()) return;
  }
}

TEST_P(SeenFaults, OnlyWhatCanBeDoneWithoutIsForgiven) {
  for (const Operation kind : {Operation::kCreate, Operation::kAppend, Operation::kSync,
                               Operation::kRename, Operation::kSyncFolder}) {
    for (std::uint64_t k = 1;; ++k) {
      Fault fault = nth_fault(k);
      fault.only = kind;
      const auto run = run_with(fault);
      if (run->disk.failures() == 0) break;
      EXPECT_TRUE(run->error) << name_of(kind) << " " << k << " failed and nobody said so";
    }
  }
}

// What a failed sync dropped can still be read when the set is opened again, and only the next
// power cut shows that it is gone.
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
    // An id that was answered for before a commit that worked is as durable as that commit.
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
    if (struck) ++faults_;
    disk.fail(std::nullopt);
    history.expect_kept(**SeenSet::open(kSetFolder, options(disk, Mode::kRead)));
  }
  EXPECT_GT(faults_, 20U);
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
