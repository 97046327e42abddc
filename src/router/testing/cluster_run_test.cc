// Seeds of simulated clusters. KIN_SEEDS says how many are run, KIN_FIRST_SEED where they begin:
//
//   KIN_SEEDS=10000 build/dev/kin_router_test --gtest_filter='ClusterRun.NothingIsLost*'
//   KIN_SEEDS=1 KIN_FIRST_SEED=4711 build/dev/kin_router_test --gtest_filter='ClusterRun.Nothing*'
#include "router/testing/cluster_run.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "router/testing/seeds.h"
#include "router/testing/shrink.h"

namespace kin::router {
namespace {

TEST(ClusterRun, NothingIsLostAndNothingReturnsWhateverBreaks) {
  const std::uint64_t count = seeds(kSeeds);
  std::size_t checked = 0, unknown = 0, failed = 0;
  for (std::uint64_t seed = first_seed(); seed < first_seed() + count; ++seed) {
    const RunOptions options{.seed = seed};
    const RunReport report = run_cluster(options);
    checked += report.checked;
    unknown += report.unknown;
    failed += report.failed;
    if (!report.violation) continue;
    FAIL() << tell(options, report);
  }
  RecordProperty("operations", static_cast<int>(checked));
  RecordProperty("unknown_writes", static_cast<int>(unknown));
  RecordProperty("failed_reads", static_cast<int>(failed));
  EXPECT_GT(checked, count * 100);
}

TEST(ClusterRun, NothingIsLostAndNothingReturnsWhilePartitionsMove) {
  const std::uint64_t count = seeds(kSeeds);
  std::size_t moved = 0, aborted = 0, failed = 0, pulls = 0, failed_pulls = 0;
  for (std::uint64_t seed = first_seed(); seed < first_seed() + count; ++seed) {
    const RunOptions options{.seed = seed, .moves = true};
    const RunReport report = run_cluster(options);
    moved += report.moved;
    pulls += report.pulls;
    failed_pulls += report.failed_pulls;
    aborted += report.aborted;
    failed += report.failed;
    if (report.violation) FAIL() << tell(options, report);
  }
  RecordProperty("moved", static_cast<int>(moved));
  RecordProperty("aborted", static_cast<int>(aborted));
  RecordProperty("failed_reads", static_cast<int>(failed));
  RecordProperty("pulls", static_cast<int>(pulls));
  RecordProperty("failed_pulls", static_cast<int>(failed_pulls));
  EXPECT_GE(moved, count);
  EXPECT_GT(pulls, count) << "of copies, by targets";
  if (count >= 100) {
    EXPECT_GT(failed_pulls, 0U) << "half way";
  }
}

TEST(ClusterRun, NothingIsLostWhileAShardJoins) {
  const std::uint64_t count = seeds(kSeeds / 3);
  std::size_t joined = 0, moved = 0;
  for (std::uint64_t seed = first_seed(); seed < first_seed() + count; ++seed) {
    const RunOptions options{.seed = seed, .moves = true, .joins = true};
    const RunReport report = run_cluster(options);
    joined += report.joined;
    moved += report.moved;
    if (report.violation) FAIL() << tell(options, report);
  }
  RecordProperty("joined", static_cast<int>(joined));
  RecordProperty("moved", static_cast<int>(moved));
  EXPECT_GT(joined, count * 3 / 4);
}

// Partitions are split, merged and retrained, and what comes of it moves from shard to shard.
TEST(ClusterRun, NothingIsLostWhilePartitionsAreDividedAndMove) {
  const std::uint64_t count = seeds(kSeeds);
  std::size_t divided = 0, undone = 0, moved = 0, failed = 0;
  for (std::uint64_t seed = first_seed(); seed < first_seed() + count; ++seed) {
    const RunOptions options{.seed = seed, .moves = seed % 2 == 0, .divides = true};
    const RunReport report = run_cluster(options);
    divided += report.divided;
    undone += report.undone;
    moved += report.moved;
    failed += report.failed;
    if (report.violation) FAIL() << tell(options, report);
  }
  RecordProperty("divided", static_cast<int>(divided));
  RecordProperty("undone", static_cast<int>(undone));
  RecordProperty("moved", static_cast<int>(moved));
  RecordProperty("failed_reads", static_cast<int>(failed));
  EXPECT_GT(divided, count / 2);
}

// What is contended finds writes that are applied twice: one that was seen, overwritten, and is
// back.
RunOptions contended(std::uint64_t seed, Sabotage sabotage = Sabotage::kNone) {
  return {.seed = seed,
          .routers = 3,
          .clients = 6,
          .operations = 38,
          .keys = 1,
          .contended = true,
          .sabotage = sabotage};
}

TEST(ClusterRun, EverybodyWritesOneKeyWhilePartitionsMove) {
  const std::uint64_t count = seeds(kSeeds / 6);
  std::size_t moved = 0;
  for (std::uint64_t seed = first_seed(); seed < first_seed() + count; ++seed) {
    const RunReport report = run_cluster(contended(seed));
    moved += report.moved;
    if (report.violation) FAIL() << tell(contended(seed), report);
  }
  RecordProperty("moved", static_cast<int>(moved));
}

TEST(ClusterRun, AppliedWritesThatAreRefusedAreFoundOut) {
  for (std::uint64_t seed = 1; seed <= 1'000; ++seed) {
    if (run_cluster(contended(seed, Sabotage::kRefusesTooEarly)).violation)
      return RecordProperty("seeds", static_cast<int>(seed));
  }
  FAIL() << "no seed up to 1000 shows it";
}

// Crashes everything that takes part in a move, at each call of its mover and at each write that a
// shard makes for it.
class CrashInMove : public testing::Test {
 protected:
  // False if there is no such crash.
  bool crash(const MoveCrash& how) {
    const RunOptions options{.clients = 3,
                             .operations = divides_ ? 20U : 12U,
                             .keys = 3,
                             .relays = relays_,
                             .divides = divides_,
                             .crash = how};
    const RunReport report = run_cluster(options);
    if (report.violation) {
      std::string text = fmt::format("moment {}, kind {}, write {}: {}\n", how.moment,
                                     static_cast<int>(how.kind), how.write, *report.violation);
      for (const std::string& note : report.notes) text += note + "\n";
      ADD_FAILURE() << text;
    }
    runs_ += report.crashed ? 1 : 0;
    moved_ += report.moved;
    divided_ += report.divided;
    moments_ = report.moments;
    pulls_ += report.pulls;
    return report.crashed;
  }

  void crash_at_each_of(std::size_t moments);
  void crash_everywhere();

  bool relays_ = false;
  std::size_t runs_ = 0;
  std::size_t moved_ = 0;
  std::size_t divided_ = 0;
  std::size_t moments_ = 0;
  bool divides_ = false;
  std::size_t pulls_ = 0;
};

void CrashInMove::crash_at_each_of(std::size_t moments) {
  using Kind = MoveCrash::Kind;
  for (std::size_t moment = 1; moment <= moments && !HasFailure(); ++moment) {
    for (const Kind kind :
         {Kind::kRouterBefore, Kind::kRouterAfter, Kind::kPeerBefore, Kind::kPeerAfter})
      crash({.moment = moment, .kind = kind});
    for (std::uint64_t write = 1;
         crash({.moment = moment, .kind = Kind::kPeerAtWrite, .write = write});)
      ++write;
  }
}

void CrashInMove::crash_everywhere() {
  crash({});
  ASSERT_EQ(moved_, 1U) << "nothing crashes";
  const std::size_t moments = moments_;
  EXPECT_GT(moments, 40U);
  crash_at_each_of(moments);
  RecordProperty("moments", static_cast<int>(moments));
  RecordProperty("crashes", static_cast<int>(runs_));
  RecordProperty("moved", static_cast<int>(moved_));
  RecordProperty("pulls", static_cast<int>(pulls_));
  EXPECT_GT(runs_, 3 * moments);
  EXPECT_GT(moved_, runs_ / 2);
}

TEST_F(CrashInMove, AtEveryCallAndEveryWrite) {
  crash_everywhere();
  EXPECT_GT(pulls_, runs_);
}

TEST_F(CrashInMove, AtEveryCallAndEveryWriteWherePagesGoThroughARouter) {
  relays_ = true;
  crash_everywhere();
  EXPECT_EQ(pulls_, 0U);
}

// The same for a repartition of the partitions of a shard.
TEST_F(CrashInMove, AtEveryCallAndEveryWriteOfARepartition) {
  divides_ = true;
  crash({});
  ASSERT_EQ(divided_, 1U) << "nothing crashes";
  const std::size_t moments = moments_;
  EXPECT_GT(moments, 30U);
  crash_at_each_of(moments);
  RecordProperty("moments", static_cast<int>(moments));
  RecordProperty("crashes", static_cast<int>(runs_));
  RecordProperty("divided", static_cast<int>(divided_));
  EXPECT_GT(runs_, 2 * moments);
  EXPECT_GT(divided_, runs_ / 2);
}

TEST(ClusterRun, ASeedIsTheSameRunEveryTime) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const RunOptions options{.seed = 1 + seed / 2, .moves = seed % 2 == 1};
    const RunReport one = run_cluster(options);
    const RunReport again = run_cluster(options);
    EXPECT_EQ(one.digest, again.digest);
    EXPECT_EQ(one.notes, again.notes);
  }
}

// The mistakes that the design avoids are found, each within a few seeds.
class SabotagedCluster : public testing::TestWithParam<Sabotage> {
 protected:
  // A person can follow what is left of the run, and it fails every time.
  static void expect_small(const RunOptions& options, const RunReport& report) {
    const Shrunk small = shrink(options, report);
    RecordProperty("parts", static_cast<int>(report.parts));
    RecordProperty("parts_left", static_cast<int>(small.parts));
    RecordProperty("runs", static_cast<int>(small.runs));
    EXPECT_LE(small.parts, report.parts / 3);
    EXPECT_LT(small.report.notes.size(), report.notes.size() / 2);
    const RunReport again = run_cluster(small.options);
    EXPECT_EQ(again.violation, small.report.violation);
    EXPECT_EQ(again.notes, small.report.notes);
  }
};

TEST_P(SabotagedCluster, IsFoundOut) {
  const std::uint64_t most = kSeeds;
  for (std::uint64_t seed = 1; seed <= most; ++seed) {
    const RunOptions options{.seed = seed, .sabotage = GetParam()};
    const RunReport report = run_cluster(options);
    if (!report.violation) continue;
    RecordProperty("seeds", static_cast<int>(seed));
    return expect_small(options, report);
  }
  FAIL() << "no seed up to " << most << " shows it";
}

// The same for mistakes of moves.
using SabotagedMoves = testing::TestWithParam<Sabotage>;

void expect_found_in_moves(Sabotage mistake, std::uint64_t most) {
  for (std::uint64_t seed = 1; seed <= most; ++seed) {
    const RunReport report = run_cluster({.seed = seed, .moves = true, .sabotage = mistake});
    if (report.violation) return testing::Test::RecordProperty("seeds", static_cast<int>(seed));
  }
  FAIL() << "no seed up to " << most << " shows it";
}

TEST_P(SabotagedMoves, AreFoundOut) {
  // Several things have to meet for some of them.
  expect_found_in_moves(GetParam(), 1'000);
}

// And for mistakes of repartitions.
using SabotagedRepartitions = testing::TestWithParam<Sabotage>;

TEST_P(SabotagedRepartitions, AreFoundOut) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const RunReport report = run_cluster({.seed = seed, .divides = true, .sabotage = GetParam()});
    if (report.violation) return RecordProperty("seeds", static_cast<int>(seed));
  }
  FAIL() << "no seed up to " << kSeeds << " shows it";
}

std::string name_of_mistake(const testing::TestParamInfo<Sabotage>& mistake) {
  switch (mistake.param) {
    case Sabotage::kNone: return "None";
    case Sabotage::kAppliesTwice: return "RequestsAreAppliedTwice";
    case Sabotage::kAnswersEarly: return "WritesAreAnsweredEarly";
    case Sabotage::kForgetsClaims: return "ClaimsAreForgotten";
    case Sabotage::kDropsClaims: return "TheDirectoryIsNotTold";
    case Sabotage::kServesOldMaps: return "OldMapsAreServed";
    case Sabotage::kNoFence: return "TheSourceIsNotFenced";
    case Sabotage::kServesOldReaders: return "OldReadersAreServed";
    case Sabotage::kRefusesTooEarly: return "AppliedWritesAreRefused";
    case Sabotage::kCleansEarly: return "TheSourceIsCleanedEarly";
    case Sabotage::kDropsTombstones: return "TombstonesAreNotCopied";
    case Sabotage::kLosesLog: return "TheLogIsNotFollowed";
    case Sabotage::kDropsPlaces: return "TheDirectoryIsNotCopied";
    case Sabotage::kDropsEdges: return "EdgesAreNotCopied";
    case Sabotage::kStopsCopyEarly: return "TheCopyEndsEarly";
    case Sabotage::kMissingPageIsLast: return "AMissingPageCountsAsTheLast";
    case Sabotage::kTakesOldPages: return "PagesOfAnOlderMoveAreTaken";
    default: return "OfATakeOver";
  }
  return "";
}

INSTANTIATE_TEST_SUITE_P(Mistakes, SabotagedCluster,
                         testing::Values(Sabotage::kAppliesTwice, Sabotage::kAnswersEarly,
                                         Sabotage::kForgetsClaims),
                         name_of_mistake);
INSTANTIATE_TEST_SUITE_P(Mistakes, SabotagedRepartitions,
                         testing::Values(Sabotage::kDropsClaims, Sabotage::kServesOldMaps),
                         name_of_mistake);
INSTANTIATE_TEST_SUITE_P(Mistakes, SabotagedMoves,
                         testing::Values(Sabotage::kNoFence, Sabotage::kServesOldReaders,
                                         Sabotage::kCleansEarly, Sabotage::kDropsTombstones,
                                         Sabotage::kLosesLog, Sabotage::kDropsPlaces,
                                         Sabotage::kDropsEdges, Sabotage::kStopsCopyEarly,
                                         Sabotage::kMissingPageIsLast, Sabotage::kTakesOldPages),
                         name_of_mistake);

}  // namespace
}  // namespace kin::router
