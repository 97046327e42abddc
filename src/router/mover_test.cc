#include "router/mover.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/manual_clock.h"
#include "router/testing/local_cluster.h"

namespace kin::router {
namespace {

using index::PartitionId;
using testing::HasSubstr;

constexpr std::size_t kThings = 60;

// Two shards, and a partition of the first one that moves to the second.
class MoverTest : public testing::Test {
 protected:
  MoverTest() : cluster_({.shards = 2, .partitions = 4, .shard = options()}) {
    for (std::size_t i = 0; i < kThings; ++i) put(i, "tide");
    write({index::RemoveEntity{.id = id(3)}, index::AddFragment{.id = id(4), .fragment = {1, "sand"}}});
  }

  index::ShardOptions options() {
    index::ShardOptions options;
    options.clock = &clock_;
    return options;
  }
  static DocId id(std::size_t i) { return doc_id_of("test", std::to_string(i)); }

  void write(std::vector<index::Mutation> mutations) {
    const auto written = cluster_.router().write(mutations);
    ASSERT_TRUE(written.ok()) << written.error().message;
    for (const auto& problem : written->problems) ADD_FAILURE() << problem.error.message;
  }
  void put(std::size_t i, const std::string& text) {
    index::PutEntity put;
    put.entity = {.id = id(i), .key = std::to_string(i), .source = "test", .text = text};
    index::PutEdge link;
    link.edge.id = {.from = id(i), .name = "next", .to = id(i + 1)};
    write({put, link});
  }

  Mover mover(MoverOptions options = {}) {
    options.clock = &clock_;
    options.page = std::min<std::size_t>(options.page, 7);
    options.removed = 7;
    options.one_piece = true;
    return {"things", cluster_.meta(), cluster_.connect(), options};
  }
  void begin() {
    const auto begun = begin_move(cluster_.meta(), "things", {.partition = kMoves, .target = 1});
    ASSERT_TRUE(begun.ok()) << begun.error().message;
  }
  Move move() { return read_moves(cluster_.meta(), "things")->at(0); }
  // Steps until the move is in this phase.
  void step_to(Mover& mover, MovePhase phase) {
    for (int steps = 0; move().phase != phase; ++steps) {
      ASSERT_LT(steps, 500) << name_of(move().phase) << " " << move().reason;
      step(mover);
    }
  }
  void step(Mover& mover) {
    const auto outcome = mover.step();
    ASSERT_TRUE(outcome.ok()) << outcome.error().message;
    const auto next = outcome->next(clock_.steady_now());
    if (next && *next > clock_.steady_now()) clock_.sleep_for(*next - clock_.steady_now());
  }

  // A thing in the partition that moves.
  std::size_t moving_thing() {
    for (std::size_t i = 5;; ++i) {
      if (cluster_.router().map().home_of(id(i)) == kMoves) return i;
    }
  }
  std::size_t count_on(std::size_t shard) {
    const auto sizes = index::count_partitions(cluster_.host(shard).shard().view().truth());
    const auto found = sizes->find(kMoves);
    return found == sizes->end() ? 0 : found->second;
  }
  // Everything is there, as one index would have it.
  void expect_all(const std::string& text) {
    const auto router = cluster_.open_router();
    const auto found = router->search({.text = index::TextLeg{.query = text}, .k = 1'000});
    ASSERT_TRUE(found.ok()) << found.error().message;
    EXPECT_EQ(found->found.hits.size(), kThings - 1);
    EXPECT_EQ(router->search({.text = index::TextLeg{.query = "sand"}})->found.hits.size(), 1U);
    const auto entity = router->get(std::vector{id(3), id(4)});
    ASSERT_TRUE(entity.ok()) << entity.error().message;
    EXPECT_FALSE((*entity)[0]);
    EXPECT_TRUE((*entity)[1]);
    for (std::size_t i = 0; i < kThings; ++i) {
      const auto in = router->traverse({.from = {id(i + 1)},
                                       .direction = index::Direction::kIn,
                                       .missing = index::Missing::kVisit});
      ASSERT_TRUE(in.ok()) << in.error().message;
      EXPECT_EQ(in->edges.size(), i == 3 ? 0U : 1U) << i;
    }
  }

  static constexpr PartitionId kMoves{1};
  ManualClock clock_;
  LocalCluster cluster_;
};

TEST_F(MoverTest, APartitionMovesWithEverythingInIt) {
  const std::size_t count = count_on(0);
  ASSERT_GT(count, 5U);
  Mover mover = this->mover();
  EXPECT_FALSE(mover.step()->next(clock_.steady_now())) << "there is no move";
  begin();
  step_to(mover, MovePhase::kDone);
  EXPECT_EQ(count_on(0), 0U);
  EXPECT_EQ(count_on(1), count);
  expect_all("tide");
  EXPECT_EQ(cluster_.open_router()->map().shard_of(kMoves), 1U);
  EXPECT_TRUE(cluster_.host(0).shard().stats().followers.empty());
  for (std::size_t shard : {0, 1}) {
    const auto report = cluster_.host(shard).shard().check();
    ASSERT_TRUE(report.ok()) << report.error().message;
    EXPECT_TRUE(report->faults.empty()) << report->faults.at(0);
  }
}

TEST_F(MoverTest, WritesGoOnThroughRoutersThatKnowNothingOfIt) {
  Mover mover = this->mover();
  begin();
  for (const MovePhase phase : {MovePhase::kCopying, MovePhase::kFollowing, MovePhase::kVerifying}) {
    for (std::size_t i = 0; i < kThings; ++i) {
      if (i != 3) put(i, fmt::format("{} reef", name_of(phase)));
    }
    step_to(mover, phase);
  }
  step_to(mover, MovePhase::kGrace);
  for (std::size_t i = 0; i < kThings; ++i) {
    if (i != 3) put(i, "late reef");
  }
  step_to(mover, MovePhase::kDone);
  expect_all("late");
  expect_all("reef");
}

TEST_F(MoverTest, APartitionMovesThereAndBack) {
  const std::size_t count = count_on(0);
  Mover mover = this->mover();
  begin();
  step_to(mover, MovePhase::kDone);
  put(moving_thing(), "tide again");
  ASSERT_TRUE(begin_move(cluster_.meta(), "things", {.partition = kMoves, .target = 0}).ok());
  step_to(mover, MovePhase::kDone);
  EXPECT_EQ(count_on(0), count);
  EXPECT_EQ(count_on(1), 0U);
  expect_all("tide");
}

TEST_F(MoverTest, AbortingLeavesEverythingAsItWas) {
  const std::size_t count = count_on(0);
  for (const MovePhase phase : {MovePhase::kPreparing, MovePhase::kCopying, MovePhase::kFollowing,
                                MovePhase::kVerifying, MovePhase::kHandingOver}) {
    Mover mover = this->mover();
    begin();
    step_to(mover, phase);
    ASSERT_TRUE(abort_move(cluster_.meta(), "things", kMoves, "as asked").ok());
    step_to(mover, MovePhase::kFailed);
    EXPECT_EQ(move().reason, "as asked");
    EXPECT_EQ(count_on(0), count) << name_of(phase);
    EXPECT_EQ(count_on(1), 0U) << name_of(phase);
    EXPECT_TRUE(cluster_.host(0).shard().stats().followers.empty());
    put(moving_thing(), "tide");  // which the source takes
    expect_all("tide");
  }
}

TEST_F(MoverTest, AMoveThatWasHandedOverIsCompletedAlthoughItWasToBeAborted) {
  Mover mover = this->mover();
  begin();
  step_to(mover, MovePhase::kHandingOver);
  const auto stored = read_stored_moves(cluster_.meta(), "things")->at(0);
  step_to(mover, MovePhase::kGrace);
  // Somebody else decided at the same moment.
  const auto now = read_stored_moves(cluster_.meta(), "things")->at(0);
  Move late = stored.move;
  late.phase = MovePhase::kAborting;
  ASSERT_TRUE(*swap_move(cluster_.meta(), "things", now, late));
  step_to(mover, MovePhase::kDone);
  EXPECT_EQ(count_on(0), 0U);
  expect_all("tide");
}

TEST_F(MoverTest, TheTargetReadsTheCopyFromTheSource) {
  const std::size_t count = count_on(0);
  cluster_.client(1).reach = cluster_.connect();
  Mover mover = this->mover({.pull_bytes = 500});
  begin();
  step_to(mover, MovePhase::kCopying);
  const std::size_t before = cluster_.client(0).calls;
  step_to(mover, MovePhase::kFollowing);
  EXPECT_GT(cluster_.client(0).calls, before + 2) << "pages of the source";
  EXPECT_GT(mover.counts().bytes, 1'000U);
  EXPECT_EQ(mover.statuses().at(0).bytes, mover.counts().bytes);
  EXPECT_EQ(count_on(1), count);
  step_to(mover, MovePhase::kDone);
  expect_all("tide");
}

TEST_F(MoverTest, ACopyGoesThroughTheRouterWhereTheTargetDoesNotReachTheSource) {
  cluster_.client(1).reach = [&](const std::string&) {
    auto nobody = std::make_shared<WatchedClient>(cluster_.host(0));
    nobody->is_down = true;
    return nobody;
  };
  Mover mover = this->mover();
  begin();
  step_to(mover, MovePhase::kDone);
  EXPECT_EQ(count_on(0), 0U);
  expect_all("tide");
}

// What was written before the fence is not read again behind it.
TEST_F(MoverTest, LittleIsLeftToDoBehindTheFence) {
  Mover mover = this->mover();
  begin();
  step_to(mover, MovePhase::kVerifying);
  put(moving_thing(), "tide at the last moment");
  const std::size_t source = cluster_.client(0).calls;
  const std::size_t target = cluster_.client(1).calls;
  step_to(mover, MovePhase::kHandingOver);
  EXPECT_EQ(cluster_.client(0).calls - source, 4U) << "fence, log, directory entries, digest";
  EXPECT_LE(cluster_.client(1).calls - target, 4U) << "digest, records, entries, digest";
  step_to(mover, MovePhase::kDone);
  expect_all("tide");
}

TEST_F(MoverTest, CopiesThatDifferAreNotHandedOver) {
  Mover mover = this->mover();
  begin();
  step_to(mover, MovePhase::kVerifying);
  // A record that the source does not have.
  index::EntityRecord more{.version = {.epoch = 9, .lsn = 1}, .partition = kMoves};
  more.entity = {.id = id(1'000), .key = "1000", .source = "test", .text = "tide"};
  const std::vector<index::Record> records{more};
  ASSERT_TRUE(cluster_.host(1).shard().apply(records).ok());
  step_to(mover, MovePhase::kFailed);
  EXPECT_THAT(move().reason, HasSubstr("differ in bucket"));
  EXPECT_EQ(count_on(1), 0U);
  put(moving_thing(), "tide");
  expect_all("tide");
}

TEST_F(MoverTest, AnyMoverGoesOnWhereAnotherStopped) {
  begin();
  for (int steps = 0; !rule_of(move().phase).over; ++steps) {
    ASSERT_LT(steps, 500);
    Mover other = mover({.grace = {}});
    for (int i = 0; i < 3; ++i) step(other);  // it leaves the move to the one before for a while
  }
  EXPECT_EQ(move().phase, MovePhase::kDone);
  expect_all("tide");
}

TEST_F(MoverTest, OneOfSeveralMoversCopies) {
  begin();
  Mover one = mover({.page = 3, .page_bytes = 200});
  Mover other = mover({.page = 3, .page_bytes = 200});
  const auto step_once = [&](Mover& mover) { ASSERT_TRUE(mover.step().ok()); };
  for (int steps = 0; move().phase != MovePhase::kFollowing; ++steps) {
    ASSERT_LT(steps, 1'000);
    step_once(one);
    step_once(other);
    clock_.sleep_for(std::chrono::milliseconds{5});
  }
  const std::uint64_t bytes = one.counts().bytes + other.counts().bytes;
  EXPECT_GT(bytes, 1'000U);
  EXPECT_TRUE(one.counts().bytes == 0 || other.counts().bytes == 0)
      << one.counts().bytes << " and " << other.counts().bytes;
  // The other one goes on when the first one stops.
  Mover& left = one.counts().bytes == 0 ? one : other;
  step_to(left, MovePhase::kDone);
  expect_all("tide");
}

TEST_F(MoverTest, TellsHowFarACopyIs) {
  Mover mover = this->mover({.page_bytes = 300});
  begin();
  step_to(mover, MovePhase::kCopying);
  const auto of = static_cast<std::uint64_t>(count_on(0));
  std::uint64_t last = 0;
  while (move().phase == MovePhase::kCopying) {
    step(mover);
    clock_.sleep_for(std::chrono::seconds{1});
    const auto statuses = mover.statuses();
    ASSERT_EQ(statuses.size(), 1U);
    EXPECT_EQ(statuses[0].move, move().id);
    EXPECT_GE(statuses[0].entities, last);
    last = statuses[0].entities;
    if (last > 0 && last < of / 2) {
      EXPECT_GT(statuses[0].bytes_per_second, 0);
      EXPECT_TRUE(statuses[0].left);
    }
  }
  EXPECT_GT(last, of / 2);
  step_to(mover, MovePhase::kDone);
  step(mover);
  EXPECT_TRUE(mover.statuses().empty());
  EXPECT_EQ(mover.counts().done, 1U);
}

TEST_F(MoverTest, ATargetThatIsAwayIsWaitedForUnlessNobodyServesMeanwhile) {
  Mover mover = this->mover({.patience = std::chrono::seconds{5}});
  begin();
  step_to(mover, MovePhase::kCopying);
  cluster_.client(1).is_down = true;
  for (int i = 0; i < 100; ++i) step(mover);
  EXPECT_EQ(move().phase, MovePhase::kCopying);
  cluster_.client(1).is_down = false;
  step_to(mover, MovePhase::kVerifying);
  cluster_.client(1).is_down = true;
  step_to(mover, MovePhase::kAborting);
  step(mover);  // the source owns the partition again, and is told
  step(mover);
  put(moving_thing(), "tide");
  cluster_.client(1).is_down = false;
  step_to(mover, MovePhase::kFailed);
  expect_all("tide");
}

// A process that took a shard over may lack what the other shard was told.
TEST_F(MoverTest, AMoveIsUndoneWhenAnotherNodeTookOneOfItsShardsOver) {
  for (const std::uint32_t shard : {0U, 1U}) {
    for (const MovePhase phase : {MovePhase::kCopying, MovePhase::kHandingOver}) {
      Mover mover = this->mover();
      begin();
      step_to(mover, phase);
      const auto stored = *cluster_.meta().get(map_key("things"));
      const ShardMap map = *decode_shard_map(stored->bytes);
      const ShardMap after =
          taken_over(map, shard, map.shards[shard], map.term_of(shard) + 1);
      ASSERT_TRUE(*cluster_.meta().swap(map_key("things"), stored->revision, encode(after)));
      step_to(mover, MovePhase::kFailed);
      EXPECT_THAT(move().reason, HasSubstr("took a shard of the move over"));
      EXPECT_EQ(count_on(1), 0U);
      put(moving_thing(), "tide");
      expect_all("tide");
    }
  }
}

TEST_F(MoverTest, CopyingKeepsToItsRate) {
  const auto seconds_for = [&](std::uint64_t rate, std::uint32_t target) {
    Mover mover = this->mover({.grace = {}, .bytes_per_second = rate});
    EXPECT_TRUE(begin_move(cluster_.meta(), "things", {.partition = kMoves, .target = target}).ok());
    const SteadyTime begun = clock_.steady_now();
    step_to(mover, MovePhase::kDone);
    return std::chrono::duration<double>(clock_.steady_now() - begun).count();
  };
  EXPECT_LT(seconds_for(0, 1), 0.1);
  const double slow = seconds_for(500, 0);
  EXPECT_GT(slow, 1);
  EXPECT_NEAR(seconds_for(1'000, 1), slow / 2, slow / 10);
}

}  // namespace
}  // namespace kin::router
