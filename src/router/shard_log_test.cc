// Shipped logs from end to end: an owner, copies, take-overs, snapshots, restores; over object stores
// that fail and disks that lose power.
#include "router/shard_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/random.h"
#include "base/testing/durability.h"
#include "index/replication.h"
#include "router/log_reader.h"
#include "router/testing/logged_shard.h"

namespace kin::router {
namespace {

using Bytes = cloud::SimulatedObjects::Bytes;
using Fate = cloud::SimulatedObjects::Fate;
using testing::ElementsAre;

class ShardLogTest : public testing::TestWithParam<kv::StoreOptions::Engine> {
 protected:
  std::unique_ptr<LoggedShardUnderTest> node(const std::string& name) {
    auto made = std::make_unique<LoggedShardUnderTest>(name, bytes_, clock_);
    made->engine = GetParam();
    made->snapshots.least_log_bytes = 1 << 30;  // only when one is needed
    return made;
  }
  // An owner whose log has a first snapshot and some writes after it, with a trimmed changelog.
  std::unique_ptr<LoggedShardUnderTest> written() {
    auto owner = node("a");
    EXPECT_TRUE(owner->start().ok());
    write_some(*owner, "before");
    owner->settle();
    write_some(*owner, "after");
    EXPECT_TRUE(owner->remove("k1").ok());
    EXPECT_TRUE(owner->host().shard().checkpoint().ok());  // trims
    write_some(*owner, "trimmed");
    owner->settle();
    return owner;
  }
  // A copy that was restored and has everything for now.
  std::unique_ptr<LoggedShardUnderTest> caught_up(const std::string& name) {
    auto copy = node(name);
    EXPECT_TRUE(copy->restore().ok());
    EXPECT_TRUE(copy->follow().ok());
    const Status done = copy->catch_up();
    EXPECT_TRUE(done.ok());
    return copy;
  }
  void write_some(LoggedShardUnderTest& owner, const std::string& word) {
    for (int i = 0; i < 4; ++i) {
      clock_.advance(std::chrono::seconds{1});
      const Status done = owner.write("k" + std::to_string(i), word + " x" + std::to_string(i));
      ASSERT_TRUE(done.ok()) << done.error().message;
    }
  }
  static void expect_equal(LoggedShardUnderTest& copy, LoggedShardUnderTest& owner) {
    EXPECT_EQ(copy.rows(), owner.rows());
    for (const char* word : {"before", "after", "trimmed", "x0", "x1", "x3"})
      EXPECT_EQ(copy.found(word), owner.found(word)) << word;
    for (std::uint32_t i = 0; i < LoggedShardUnderTest::kPartitions; ++i) {
      const index::PartitionId partition{i};
      EXPECT_EQ(*index::digest_partition(copy.host().shard().view().truth(), partition),
                *index::digest_partition(owner.host().shard().view().truth(), partition));
    }
    const auto report = copy.host().shard().check();
    ASSERT_TRUE(report.ok()) << report.error().message;
    EXPECT_THAT(report->faults, testing::IsEmpty());
  }

  ManualClock clock_;
  std::shared_ptr<Bytes> bytes_ = std::make_shared<Bytes>();
};

INSTANTIATE_TEST_SUITE_P(Engines, ShardLogTest,
                         testing::Values(kv::StoreOptions::Engine::kLog,
                                         kv::StoreOptions::Engine::kRocksDb),
                         [](const auto& kind) {
                           return std::string(
                               kind.param == kv::StoreOptions::Engine::kLog ? "Log" : "RocksDb");
                         });

TEST_P(ShardLogTest, ACopyThatIsFedByTheLogAloneIsEqual) {
  const auto owner = written();
  const auto copy = caught_up("b");
  expect_equal(*copy, *owner);
  // Batches that a copy applies to its open shard; the changelog is trimmed by one of them.
  write_some(*owner, "more");
  ASSERT_TRUE(owner->host().shard().checkpoint().ok());
  write_some(*owner, "after");
  ASSERT_TRUE(owner->remove("k2").ok());
  owner->settle();
  ASSERT_TRUE(copy->catch_up().ok());
  expect_equal(*copy, *owner);
  // It refuses what only owners do.
  EXPECT_EQ(copy->write("k1", "x").error().code, Code::kUnavailable);
  // Opened again it is where it was.
  ASSERT_TRUE(copy->follow().ok());
  expect_equal(*copy, *owner);
}

TEST_P(ShardLogTest, AnEmptyDiskGetsEverythingThatWasDurable) {
  const auto owner = written();
  EXPECT_TRUE(owner->is_durable());
  owner->wipe();
  ASSERT_TRUE(owner->restore().ok());
  const Status started = owner->start();
  ASSERT_TRUE(started.ok()) << started.error().message;
  EXPECT_EQ(owner->found("trimmed").size(), 4U);
  EXPECT_THAT(owner->host().shard().check()->faults, testing::IsEmpty());
  write_some(*owner, "again");
  owner->settle();
  EXPECT_TRUE(owner->is_durable());
}

TEST_P(ShardLogTest, AnOwnerThatIsTakenOverIsDeposed) {
  const auto owner = written();
  const auto copy = caught_up("b");
  write_some(*owner, "shipped");
  owner->settle();
  ASSERT_TRUE(owner->write("k9", "lost").ok());  // not shipped
  EXPECT_FALSE(owner->is_durable());
  ASSERT_TRUE(copy->log().take_over(copy->host(), 2).ok());
  EXPECT_EQ(copy->found("shipped").size(), 4U);
  EXPECT_TRUE(copy->found("lost").empty());
  // The new owner has all of the state in the log, so that no snapshot holds its writes up.
  ASSERT_TRUE(copy->write("k5", "new").ok());
  ASSERT_TRUE(copy->log().shipper().step().ok());
  EXPECT_TRUE(copy->is_durable());
  owner->settle();
  EXPECT_TRUE(owner->log().shipper().is_deposed());
  EXPECT_EQ(owner->log().shipper().state(0), LogShipper::Wait::kDeposed);
  // It does not come back as an owner.
  owner->drop();
  EXPECT_EQ(owner->start().error().code, Code::kFailedPrecondition);
  // A copy of the first term crosses to the second.
  const auto third = node("c");
  ASSERT_TRUE(third->restore().ok());
  ASSERT_TRUE(third->follow().ok());
  copy->settle();
  ASSERT_TRUE(third->catch_up().ok());
  expect_equal(*third, *copy);
}

TEST_P(ShardLogTest, AfterACleanStopTheLogGoesOnWithoutASnapshot) {
  const auto owner = written();
  ASSERT_TRUE(owner->stop().ok());
  ASSERT_TRUE(owner->start().ok());
  while (owner->log().shipper().step()->did_work()) {
  }
  EXPECT_TRUE(owner->is_durable());
  const auto copy = caught_up("b");
  expect_equal(*copy, *owner);
  // After a kill, batches may be missing in the log: a snapshot has them.
  ASSERT_TRUE(owner->write("k7", "unshipped").ok());
  ASSERT_TRUE(owner->start().ok());
  while (owner->log().shipper().step()->did_work()) {
  }
  EXPECT_FALSE(owner->is_durable());
  owner->settle();
  EXPECT_TRUE(owner->is_durable());
  EXPECT_EQ(copy->catch_up().error().code, Code::kFailedPrecondition);
  copy->wipe();
  ASSERT_TRUE(copy->restore().ok());
  ASSERT_TRUE(copy->follow().ok());
  ASSERT_TRUE(copy->catch_up().ok());
  EXPECT_THAT(copy->found("unshipped"), ElementsAre("k7"));
  expect_equal(*copy, *owner);
}

// A term without a base whose owner is lost before its first snapshot left nothing that was durable.
TEST_P(ShardLogTest, ACopyGoesOnBehindATermThatHasNoSnapshot) {
  const auto owner = written();
  const auto copy = caught_up("b"), third = caught_up("c");
  ASSERT_TRUE(owner->write("k7", "unshipped").ok());
  ASSERT_TRUE(owner->start().ok()) << "as after a kill";
  ASSERT_TRUE(owner->write("k8", "undurable").ok());
  while (owner->log().shipper().step()->did_work()) {
  }
  EXPECT_FALSE(owner->is_durable());
  EXPECT_EQ(copy->catch_up().error().code, Code::kFailedPrecondition);
  const Status taken = copy->log().take_over(copy->host(), 3);
  ASSERT_TRUE(taken.ok()) << taken.error().message;
  EXPECT_EQ(copy->found("trimmed").size(), 4U);
  EXPECT_TRUE(copy->found("undurable").empty());
  // Its term has a base, so that nothing waits for a snapshot and others follow.
  ASSERT_TRUE(copy->write("k5", "new").ok());
  ASSERT_TRUE(copy->log().shipper().step().ok());
  EXPECT_TRUE(copy->is_durable());
  ASSERT_TRUE(third->catch_up().ok());
  expect_equal(*third, *copy);
  // The snapshot of the old owner comes too late: it does not count.
  const auto before = list_snapshots(owner->below())->size();
  for (int i = 0; i < 1'000 && owner->log().snapshot_stats().taken == 0; ++i) {
    ASSERT_TRUE(owner->log().step_snapshots().ok());
    clock_.advance(std::chrono::seconds{3});
  }
  EXPECT_EQ(owner->log().snapshot_stats().taken, 1U);
  EXPECT_EQ(list_snapshots(owner->below())->size(), before);
  EXPECT_FALSE(owner->is_durable()) << "it is not proved";
  owner->settle();
  EXPECT_TRUE(owner->log().shipper().is_deposed());
  third->wipe();
  ASSERT_TRUE(third->restore().ok());
  ASSERT_TRUE(third->follow().ok());
  ASSERT_TRUE(third->catch_up().ok());
  expect_equal(*third, *copy);
}

TEST_P(ShardLogTest, ACopyDoesNotGoOnBesideASnapshotOfTheLastTerm) {
  const auto owner = written();
  const auto copy = caught_up("b");
  ASSERT_TRUE(owner->start().ok()) << "as after a kill";
  ASSERT_TRUE(owner->write("k8", "durable").ok());
  owner->settle();
  EXPECT_TRUE(owner->is_durable());
  EXPECT_EQ(copy->log().take_over(copy->host(), 3).error().code, Code::kFailedPrecondition);
  copy->wipe();
  ASSERT_TRUE(copy->restore().ok());
  ASSERT_TRUE(copy->follow().ok());
  ASSERT_TRUE(copy->log().take_over(copy->host(), 4).ok());
  EXPECT_THAT(copy->found("durable"), ElementsAre("k8"));
}

TEST_P(ShardLogTest, ACopyGoesOnBeforeAGapThatNoSnapshotCovers) {
  const auto owner = node("a");
  owner->shipper.most_queue_bytes = 5'000;
  ASSERT_TRUE(owner->start().ok());
  write_some(*owner, "before");
  owner->settle();
  const auto copy = caught_up("b"), third = caught_up("c");
  for (int i = 0; i < 8; ++i) write_some(*owner, "many");
  ASSERT_TRUE(owner->log().shipper().step().ok());
  EXPECT_EQ(owner->log().shipper().stats().gaps, 1U);
  ASSERT_TRUE(copy->log().take_over(copy->host(), 2).ok());
  EXPECT_EQ(copy->found("before").size(), 4U);
  ASSERT_TRUE(copy->write("k5", "new").ok());
  ASSERT_TRUE(copy->log().shipper().step().ok());
  EXPECT_TRUE(copy->is_durable());
  ASSERT_TRUE(third->catch_up().ok());
  expect_equal(*third, *copy);
}

TEST_P(ShardLogTest, AQueueThatIsTooLongIsDroppedAndASnapshotTakesItsPlace) {
  const auto owner = node("a");
  owner->shipper.most_queue_bytes = 5'000;
  ASSERT_TRUE(owner->start().ok());
  owner->settle();
  for (int i = 0; i < 8; ++i) write_some(*owner, "many");
  ASSERT_TRUE(owner->log().shipper().step().ok());
  EXPECT_EQ(owner->log().shipper().stats().gaps, 1U);
  EXPECT_FALSE(owner->is_durable());
  owner->settle();
  EXPECT_TRUE(owner->is_durable());
  const auto copy = caught_up("b");
  expect_equal(*copy, *owner);
}

TEST_P(ShardLogTest, RestoresAPointInTimeAndGoesOnFromThere) {
  const auto owner = node("a");
  ASSERT_TRUE(owner->start().ok());
  owner->settle();
  std::vector<std::pair<WallTime, std::size_t>> states;
  for (std::size_t i = 1; i <= 6; ++i) {
    clock_.advance(std::chrono::minutes{1});
    ASSERT_TRUE(owner->write("k" + std::to_string(i), "word").ok());
    states.emplace_back(clock_.now(), i);
    if (i % 3 == 0) owner->settle();  // several writes in one object
  }
  for (const auto& [time, count] : states) {
    const auto copy = node("b");
    const auto restored = copy->restore(time);
    ASSERT_TRUE(restored.ok()) << restored.error().message;
    EXPECT_EQ(restored->time, time);
    ASSERT_TRUE(write_role(copy->disk(), "/shard", {.restored = true}).ok());
  }
  EXPECT_EQ(node("b")->restore(states[0].first - std::chrono::hours{1}).error().code,
            Code::kNotFound);
  const auto copy = node("b");
  ASSERT_TRUE(copy->restore(states[3].first).ok());
  ASSERT_TRUE(write_role(copy->disk(), "/shard", {.restored = true}).ok());
  ASSERT_TRUE(copy->start().ok());
  EXPECT_EQ(copy->found("word").size(), 4U);
  copy->settle();
  EXPECT_TRUE(copy->is_durable());
  // What came after that time is given up: whoever restores from now on gets the new state.
  const auto last = caught_up("c");
  expect_equal(*last, *copy);
}

TEST_P(ShardLogTest, SnapshotsShareFilesAndOldOnesAreRemoved) {
  const auto owner = node("a");
  owner->snapshots.retention = std::chrono::hours{1};
  ASSERT_TRUE(owner->start().ok());
  const auto snapshot = [&] {
    ASSERT_TRUE(owner->log().step_snapshots(true).ok());
    owner->settle();
  };
  write_some(*owner, "one");
  snapshot();
  const auto first = owner->log().snapshot_stats();
  ASSERT_TRUE(owner->remove("none").ok());
  snapshot();
  const auto second = owner->log().snapshot_stats();
  EXPECT_EQ(second.taken, first.taken + 1);
  EXPECT_LT(second.sent_bytes - first.sent_bytes, second.bytes);  // the directory did not change
  const auto all = list_snapshots(owner->below())->size();
  EXPECT_GE(all, 2U);
  for (int i = 0; i < 4; ++i) {
    clock_.advance(std::chrono::minutes{40});
    write_some(*owner, "later" + std::to_string(i));
    snapshot();
  }
  const auto left = *list_snapshots(owner->below());
  EXPECT_LE(left.size(), 3U);
  // The newest that is older than the retention is there, and the log from it on.
  EXPECT_LE(left.front().time, clock_.now() - std::chrono::hours{1});
  const auto names = *cloud::list_all(owner->below(), std::string(kLogFolder));
  for (const std::string& name : names) {
    const auto position = *position_in(name);
    EXPECT_TRUE(position > left.front().from || position.number == 1) << name;
  }
  std::set<std::string> needed;
  for (const auto& one : left) {
    for (const auto& file : one.files) needed.insert(file.object);
  }
  const auto files = *cloud::list_all(owner->below(), std::string(kFileFolder));
  EXPECT_EQ(std::set<std::string>(files.begin(), files.end()), needed);
  const auto copy = node("b");
  ASSERT_TRUE(copy->restore(clock_.now() - std::chrono::hours{1}).ok());
  copy->wipe();
  ASSERT_TRUE(copy->restore().ok());
  ASSERT_TRUE(copy->follow().ok());
  ASSERT_TRUE(copy->catch_up().ok());
  expect_equal(*copy, *owner);
}

TEST_P(ShardLogTest, ABackupOfAShardThatIsWrittenCanBeRestored) {
  const auto owner = written();
  cloud::SimulatedObjects backup;
  const auto first = back_up_shard(owner->below(), backup);
  ASSERT_TRUE(first.ok()) << first.error().message;
  EXPECT_GT(first->bytes, 0U);
  write_some(*owner, "later");
  owner->settle();
  const auto copy = node("b");
  const auto options = [&] {
    return RestoreOptions{.files = {.engine = GetParam(), .disk = &copy->disk()}};
  };
  ASSERT_TRUE(restore_shard(backup, "/shard", options()).ok());
  // What a second backup finds it does not copy again.
  const auto second = back_up_shard(owner->below(), backup);
  ASSERT_TRUE(second.ok());
  EXPECT_LT(second->bytes, first->bytes);
  EXPECT_GT(second->until, first->until);
}

// The power fails before every change of the disk of a copy that applies the log.
TEST_P(ShardLogTest, ACopyThatLosesPowerAnywhereGoesOn) {
  const auto owner = written();
  const auto begin = [&] {
    auto copy = node("b");
    EXPECT_TRUE(copy->restore().ok());
    EXPECT_TRUE(copy->follow().ok());
    return copy;
  };
  // Restored before these.
  std::mutex cutting;  // RocksDB writes on threads of its own
  std::vector<std::unique_ptr<SimulatedDisk>> cuts;
  const auto copy = begin();
  write_some(*owner, "more");
  ASSERT_TRUE(owner->host().shard().checkpoint().ok());
  write_some(*owner, "after");
  owner->settle();
  std::uint64_t seed = 0;
  // Opening RocksDB's stores takes much longer.
  const bool rocks = GetParam() == kv::StoreOptions::Engine::kRocksDb;
  const std::uint64_t stride = rocks ? 31 : 1;
  copy->disk().observe([&](const SimulatedDisk::Step& step) {
    if (step.number % (stride * kStride) != 0) return;
    const std::lock_guard lock(cutting);
    for (const PowerCut& cut : every_cut(++seed, 1)) cuts.push_back(copy->disk().power_cut(cut));
  });
  ASSERT_TRUE(copy->catch_up().ok());
  ASSERT_TRUE(copy->host().shard().checkpoint().ok());
  copy->disk().observe({});
  expect_equal(*copy, *owner);
  ASSERT_GT(cuts.size(), 4U);
  if (rocks) cuts.resize(std::min<std::size_t>(cuts.size(), 12));
  const auto rows = owner->rows();
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    const auto again = node("b");
    again->set_disk(std::move(cuts[i]));
    ASSERT_TRUE(again->follow().ok()) << i;
    ASSERT_TRUE(again->catch_up().ok()) << i;
    ASSERT_EQ(again->rows(), rows) << i;
    if (i % 7 == 0) expect_equal(*again, *owner);
  }
}

// Random writes, kills, lost disks and take-overs over an object store that fails and loses replies.
// Nothing that was durable is lost, and there is one owner.
TEST(ShardLogRuns, KeepWhatWasDurable) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    ManualClock clock;
    auto bytes = std::make_shared<Bytes>();
    std::vector<std::unique_ptr<LoggedShardUnderTest>> nodes;
    // A start makes many calls and is not repeated in part.
    bool starts = false;
    const auto unreliable = [&](auto, const std::string&) {
      const std::uint64_t dice = random.below(starts ? 150 : 20);
      return dice == 0 ? Fate::kFails : dice == 1 ? Fate::kReplyLost : Fate::kServed;
    };
    for (const char* name : {"a", "b"}) {
      nodes.push_back(std::make_unique<LoggedShardUnderTest>(name, bytes, clock));
      nodes.back()->objects().decide(unreliable);
      nodes.back()->shipper.most_object_bytes = 2'000;
      nodes.back()->shipper.most_queue_bytes = 20'000;
      nodes.back()->snapshots.least_log_bytes = 10'000;
    }
    std::map<std::string, std::uint64_t> durable;  // the newest write of each key that was durable
    std::map<std::string, std::uint64_t> attempted;
    std::vector<std::pair<std::string, std::uint64_t>> waiting;
    std::size_t owner = 0;
    std::uint64_t round = 0;
    const auto start = [&](std::size_t place) {
      starts = true;
      const auto calm = std::shared_ptr<void>(nullptr, [&](void*) { starts = false; });
      for (int i = 0; i < 200; ++i) {
        const Status started = nodes[place]->start();
        if (started.ok()) return true;
        if (i == 199) ADD_FAILURE() << started.error().message;
        clock.advance(std::chrono::seconds{1});
      }
      return false;
    };
    ASSERT_TRUE(start(owner));
    for (int step = 0; step < 120; ++step) {
      LoggedShardUnderTest& node = *nodes[owner];
      clock.advance(std::chrono::milliseconds{700});
      const std::uint64_t dice = random.below(30);
      if (dice < 12) {
        const std::string key = "k" + std::to_string(random.below(6));
        attempted[key] = ++round;
        ASSERT_TRUE(node.write(key, "r" + std::to_string(round)).ok());
        waiting.emplace_back(key, round);
      } else if (dice < 22) {
        ASSERT_TRUE(node.log().shipper().step().ok());
      } else if (dice < 27) {
        ASSERT_TRUE(node.log().step_snapshots(random.below(10) == 0).ok());
      } else if (dice == 27) {
        auto cut = node.disk().power_cut({.seed = seed});
        node.drop();
        node.set_disk(std::move(cut));
        waiting.clear();
        ASSERT_TRUE(start(owner));
      } else if (dice == 28 && !durable.empty()) {
        // The disk is lost, or another node takes the place of this one.
        waiting.clear();
        if (random.below(2) == 0) owner = 1 - owner;
        nodes[owner]->wipe();
        bool restored = false;
        starts = true;
        for (int i = 0; i < 200 && !restored; ++i) {
          restored = nodes[owner]->restore().ok();
          if (!restored) nodes[owner]->wipe();
        }
        ASSERT_TRUE(restored);
        ASSERT_TRUE(start(owner));
        for (const auto& [key, newest] : durable) {
          bool there = false;
          for (std::uint64_t r = newest; r <= attempted[key] && !there; ++r) {
            const auto found = nodes[owner]->found("r" + std::to_string(r));
            there = std::ranges::find(found, key) != found.end();
          }
          ASSERT_TRUE(there) << key << " of round " << newest << " is lost";
        }
      } else if (dice == 29) {
        ASSERT_TRUE(node.stop().ok());
        ASSERT_TRUE(start(owner));
      }
      if (nodes[owner]->is_durable()) {
        for (const auto& [key, r] : waiting) durable[key] = std::max(durable[key], r);
        waiting.clear();
      }
    }
    // The other one, if it runs, finds out that it is deposed.
    LoggedShardUnderTest& other = *nodes[1 - owner];
    if (other.is_open() && other.write("k0", "late").ok()) {
      other.settle();
      EXPECT_FALSE(other.is_durable());
    }
  }
}

}  // namespace
}  // namespace kin::router
