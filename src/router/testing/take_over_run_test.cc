// Simulated runs in which followers take shards over. KIN_SEEDS and KIN_FIRST_SEED as in
// cluster_run_test.cc; scripts/simulate runs many.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "router/testing/seeds.h"

namespace kin::router {
namespace {

TEST(TakeOverRun, NothingAcknowledgedIsLostWithEverything) {
  const std::uint64_t count = seeds(kSeeds * 2 / 3);
  RunReport sum;
  for (std::uint64_t seed = first_seed(); seed < first_seed() + count; ++seed) {
    const RunOptions options = everything(seed);
    const RunReport report = run_cluster(options);
    if (report.violation) FAIL() << tell(options, report);
    sum.taken_over += report.taken_over;
    sum.handed_over += report.handed_over;
    sum.moved += report.moved;
    sum.aborted += report.aborted;
    sum.joined += report.joined;
    sum.divided += report.divided;
    sum.checked += report.checked;
    sum.failed += report.failed;
    sum.stale += report.stale;
    sum.hedges += report.hedges;
    sum.hedges_won += report.hedges_won;
  }
  RecordProperty("taken_over", static_cast<int>(sum.taken_over));
  RecordProperty("handed_over", static_cast<int>(sum.handed_over));
  RecordProperty("moved", static_cast<int>(sum.moved));
  RecordProperty("aborted", static_cast<int>(sum.aborted));
  RecordProperty("joined", static_cast<int>(sum.joined));
  RecordProperty("divided", static_cast<int>(sum.divided));
  RecordProperty("operations", static_cast<int>(sum.checked));
  RecordProperty("failed_reads", static_cast<int>(sum.failed));
  RecordProperty("stale", static_cast<int>(sum.stale));
  RecordProperty("hedges", static_cast<int>(sum.hedges));
  RecordProperty("hedges_won", static_cast<int>(sum.hedges_won));
  EXPECT_GE(sum.taken_over, count);
  EXPECT_GT(sum.stale, count);
  EXPECT_GT(sum.hedges_won, count / 4);
}

TEST(TakeOverRun, ASeedIsTheSameRunEveryTime) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const RunReport one = run_cluster(everything(seed));
    const RunReport again = run_cluster(everything(seed));
    EXPECT_EQ(one.digest, again.digest);
    EXPECT_EQ(one.notes, again.notes);
  }
}

// One thing crashes while a follower takes over, at each call that a copy makes for it and at each
// change of its disk. The owner is gone for good; or it is started again before that, so that its
// last term has no snapshot.
class CrashInTakeOver : public testing::TestWithParam<bool> {
 protected:
  // False if there is no such crash.
  bool crash(const MoveCrash& how) {
    const RunOptions options{.nodes = 2,
                             .clients = 3,
                             .operations = 12,
                             .keys = 3,
                             .followers = 2,
                             .crash = how,
                             .owns_again = GetParam()};
    const RunReport report = run_cluster(options);
    if (report.violation) {
      std::string text = fmt::format("moment {}, kind {}, write {}: {}\n", how.moment,
                                     static_cast<int>(how.kind), how.write, *report.violation);
      for (const std::string& note : report.notes) text += note + "\n";
      ADD_FAILURE() << text;
    }
    runs_ += report.crashed ? 1 : 0;
    taken_over_ += report.taken_over > 0 ? 1 : 0;
    moments_ = report.moments;
    return report.crashed;
  }

  std::size_t runs_ = 0;
  std::size_t taken_over_ = 0;
  std::size_t moments_ = 0;
};

TEST_P(CrashInTakeOver, AtEveryCallAndEveryWrite) {
  crash({});
  ASSERT_EQ(taken_over_, 1U) << "nothing crashes";
  const std::size_t moments = moments_;
  EXPECT_GT(moments, 10U);
  using Kind = MoveCrash::Kind;
  for (std::size_t moment = 1; moment <= moments && !HasFailure(); ++moment) {
    for (const Kind kind :
         {Kind::kRouterBefore, Kind::kRouterAfter, Kind::kPeerBefore, Kind::kPeerAfter})
      crash({.moment = moment, .kind = kind});
    for (std::uint64_t write = 1;
         crash({.moment = moment, .kind = Kind::kPeerAtWrite, .write = write});)
      ++write;
  }
  RecordProperty("moments", static_cast<int>(moments));
  RecordProperty("crashes", static_cast<int>(runs_));
  RecordProperty("taken_over", static_cast<int>(taken_over_));
  EXPECT_GT(runs_, 3 * moments);
}

INSTANTIATE_TEST_SUITE_P(Owner, CrashInTakeOver, testing::Bool(), [](const auto& owner) {
  return owner.param ? "StartedAgainAndGone" : "Gone";
});

std::string name_of_mistake(const testing::TestParamInfo<Sabotage>& mistake) {
  switch (mistake.param) {
    case Sabotage::kNoSeal: return "TheLogIsNotSealed";
    case Sabotage::kServesAfterLease: return "OwnersGoOnWithoutALease";
    case Sabotage::kNotDurable: return "RepliesDoNotWaitForTheLog";
    case Sabotage::kReadsNotHeld: return "ReadsDoNotWaitForTheLog";
    case Sabotage::kStopsLogEarly: return "TheLogIsNotAppliedToTheSeal";
    case Sabotage::kIgnoresSnapshots: return "SnapshotsOfTheLastTermAreIgnored";
    case Sabotage::kTrimsLogEarly: return "TheLogIsTrimmedEarly";
    case Sabotage::kHidesAge: return "FollowersHideTheirAge";
    case Sabotage::kReadsAnyhow: return "CopiesBehindARepartitionAreRead";
    default: return "OfAnotherKind";
  }
}

// Deliberate mistakes of take-overs are found.
void expect_found(Sabotage mistake) {
  const std::uint64_t most = seeds(1'000);
  const std::uint64_t seed =
      first_violation(most, [&](std::uint64_t one) { return everything(one, mistake); });
  testing::Test::RecordProperty("seeds", static_cast<int>(seed));
  EXPECT_GT(seed, 0U) << "no seed up to " << most << " shows it";
}

using SabotagedTakeOvers = testing::TestWithParam<Sabotage>;
TEST_P(SabotagedTakeOvers, AreFoundOut) {
  expect_found(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Mistakes, SabotagedTakeOvers,
                         testing::Values(Sabotage::kNotDurable, Sabotage::kReadsNotHeld,
                                         Sabotage::kIgnoresSnapshots, Sabotage::kNoSeal,
                                         Sabotage::kTrimsLogEarly, Sabotage::kHidesAge,
                                         Sabotage::kServesAfterLease, Sabotage::kStopsLogEarly),
                         name_of_mistake);

// These take minutes: --gtest_also_run_disabled_tests.
using RarelySeenMistakes = testing::TestWithParam<Sabotage>;
TEST_P(RarelySeenMistakes, DISABLED_AreFoundOut) {
  expect_found(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Mistakes, RarelySeenMistakes,
                         testing::Values(Sabotage::kReadsAnyhow), name_of_mistake);

}  // namespace
}  // namespace kin::router
