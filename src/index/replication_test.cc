// A shard that is fed only by the records of another ends with the same digests.
#include "index/replication.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "index/shard.h"
#include "index/testing/random_mutations.h"
#include "index/testing/shard_fixture.h"
#include "index/testing/shipped_log.h"
#include "index/testing/simulated_truth.h"
#include "index/testing/truth_fixture.h"
#include "index/truth/check.h"

namespace kin::index {
namespace {

using testing::IsEmpty;

constexpr PartitionId kFirst{0};
constexpr PartitionId kOther{2};

void write_some(Truth& truth, RandomMutations& random, int batches) {
  for (int i = 0; i < batches; ++i) {
    std::vector<Mutation> mutations;
    for (std::uint64_t left = 1 + random.below(5); left > 0; --left)
      mutations.push_back(random.any_mutation());
    ASSERT_TRUE(truth.apply(mutations).ok());
  }
}

void expect_same(const TruthView& one, const TruthView& other, PartitionId partition) {
  EXPECT_EQ(*digest_partition(one, partition), *digest_partition(other, partition))
      << "partition " << static_cast<std::uint32_t>(partition);
}

void expect_copy(const TruthView& source, const TruthView& copy) {
  for (std::uint32_t i = 0; i < RandomMutations::kPartitions; ++i)
    expect_same(source, copy, PartitionId{i});
  EXPECT_EQ(copy.counters().entities, source.counters().entities);
  EXPECT_EQ(copy.counters().edges, source.counters().edges);
  EXPECT_EQ(copy.counters().fragments, source.counters().fragments);
  EXPECT_TRUE(check_truth(copy, [](const std::string& fault) { ADD_FAILURE() << fault; }).ok());
}

std::vector<Record> all_records(const TruthView& view, ExportRequest request) {
  std::vector<Record> all;
  do {
    ExportPage page = std::move(*export_partition(view, request));
    EXPECT_LE(page.records.size(), request.limit);
    std::ranges::move(page.records, std::back_inserter(all));
    request.after = page.next;
  } while (request.after);
  return all;
}

class ReplicationTest : public TruthFixture {
 protected:
  void copy(const std::vector<Record>& records) { ASSERT_TRUE(copy_.apply(records).ok()); }

  SimulatedTruth copy_;
};

class ShippedLogTest : public testing::TestWithParam<std::uint64_t> {
 protected:
  using Log = ShippedLog<SimulatedTruth, SimulatedTruth>;

  // Until the copy has everything.
  void ship_rest(Log& log) {
    for (int round = 0; log.acknowledged() < source_->last_lsn(); ++round) {
      ASSERT_LT(round, 100'000);
      const Status stepped = log.step(source_.view());
      ASSERT_TRUE(stepped.ok()) << stepped.error().message;
    }
  }

  SimulatedTruth source_;
  SimulatedTruth copy_;
  RandomMutations random_{GetParam()};
};

// Puts, updates, deletions, edges, fragments, moves between partitions and changes of owners, with
// a log that is trimmed as far as the follower allows, and power cuts on both sides.
TEST_P(ShippedLogTest, EndsWithEqualDigestsOverALossyChannel) {
  Log log(source_, copy_, {.seed = GetParam()});
  ASSERT_TRUE(log.begin().ok());
  for (int round = 0; round < 600; ++round) {
    if (round % 80 == 40) {
      ASSERT_TRUE(source_->apply(random_.own_all()).ok());
    }
    if (round % 4 == 0) {
      ASSERT_NO_FATAL_FAILURE(write_some(*source_, random_, 1));
    }
    const Status stepped = log.step(source_.view());
    ASSERT_TRUE(stepped.ok()) << stepped.error().message;
    if (round % 50 == 49) {
      ASSERT_TRUE(source_->trim_changes(source_->last_lsn()).ok());
    }
    if (random_.below(100) == 0) source_.cut_power(random_.below(1'000));
    if (random_.below(100) == 0) copy_.cut_power(random_.below(1'000));
  }
  ASSERT_NO_FATAL_FAILURE(ship_rest(log));
  EXPECT_GT(source_->last_lsn(), 100U);
  expect_copy(source_.view(), copy_.view());
}

// One page per change, each read when the log ended there, applied in any order and some twice.
TEST_P(ShippedLogTest, EndsWithEqualDigestsInAnyOrder) {
  std::vector<LogPage> pages;
  Lsn read = 0;
  for (int round = 0; round < 60; ++round) {
    ASSERT_NO_FATAL_FAILURE(write_some(*source_, random_, 1));
    while (read < source_->last_lsn()) {
      pages.push_back(*read_log(source_.view(), {.after = read, .limit = 1}));
      read = pages.back().up_to;
    }
  }
  for (std::size_t i = pages.size(); i > 1; --i) std::swap(pages[i - 1], pages[random_.below(i)]);
  for (const LogPage& page : pages) {
    ASSERT_TRUE(copy_.apply(page.records).ok());
    if (random_.below(4) == 0) {
      ASSERT_TRUE(copy_.apply(pages[random_.below(pages.size())].records).ok());
    }
  }
  expect_copy(source_.view(), copy_.view());
}

// Writes continue while the partition is exported; the log continues where the export's view ends.
TEST_P(ShippedLogTest, AnExportAndTheLogAfterItMakeACopyOfOnePartition) {
  ASSERT_NO_FATAL_FAILURE(write_some(*source_, random_, 60));
  ASSERT_TRUE(source_->trim_changes(source_->last_lsn()).ok());
  const TruthView snapshot = source_.view();
  Log log(source_, copy_, {.seed = GetParam(), .after = snapshot.lsn(), .partitions = {{kOther}}});
  ASSERT_TRUE(log.begin().ok());
  ExportRequest request{.partition = kOther, .limit = 3};
  bool exported = false;
  for (int round = 0; round < 300 || !exported; ++round) {
    if (round < 300 && round % 4 == 0) {
      ASSERT_NO_FATAL_FAILURE(write_some(*source_, random_, 1));
    }
    if (!exported && random_.below(3) == 0) {
      const ExportPage page = *export_partition(snapshot, request);
      ASSERT_TRUE(copy_.apply(page.records).ok());
      request.after = page.next;
      exported = !page.next;
    } else {
      ASSERT_TRUE(log.step(source_.view()).ok());
    }
  }
  ASSERT_NO_FATAL_FAILURE(ship_rest(log));
  expect_same(source_.view(), copy_.view(), kOther);
  EXPECT_TRUE(
      check_truth(copy_.view(), [](const std::string& fault) { ADD_FAILURE() << fault; }).ok());
}

INSTANTIATE_TEST_SUITE_P(Seeds, ShippedLogTest,
                         testing::Range(std::uint64_t{1}, std::uint64_t{101}));

class ShippedShardTest : public ShardFixture, public testing::WithParamInterface<std::uint64_t> {
 protected:
  static ShardOptions options(SimulatedDisk& disk) {
    ShardOptions options;
    options.truth = {.engine = kv::StoreOptions::Engine::kLog, .disk = &disk};
    SpaceOptions given = given_space(2);
    given.name = "words";
    SpaceOptions computed = computed_space(7);
    computed.name = "computed";
    options.spaces = {given, computed};
    options.near_duplicates = NearDuplicateOptions{};
    return options;
  }
  // The shard must not outlive its disk.
  void TearDown() override { drop(); }

  SimulatedDisk here_;
  SimulatedDisk there_;
};

// Near-duplicate links of the source arrive as edges; every index of the copy agrees with its
// truth.
TEST_P(ShippedShardTest, EndsWithEqualDigestsAndSoundIndexes) {
  open(options(here_));
  auto copy = std::move(*Shard::open("/copy", options(there_)));
  RandomMutations random(GetParam());
  ShippedLog<Shard, Shard> log(shard(), *copy, {.seed = GetParam()});
  ASSERT_TRUE(log.begin().ok());
  for (int round = 0; round < 240; ++round) {
    if (round % 4 == 0) apply({random.any_mutation(), random.any_mutation()});
    ASSERT_TRUE(log.step(shard().view().truth()).ok());
    if (round % 40 == 39) {
      ASSERT_TRUE(shard().checkpoint().ok());
    }
    if (round % 60 == 59) {
      ASSERT_TRUE(copy->step().ok());
    }
  }
  EXPECT_EQ(shard().stats().followers.at("copy"), log.acknowledged());
  for (int round = 0; log.acknowledged() < shard().view().lsn(); ++round) {
    ASSERT_LT(round, 100'000);
    ASSERT_TRUE(log.step(shard().view().truth()).ok());
  }
  expect_copy(shard().view().truth(), copy->view().truth());
  const auto report = copy->check();
  ASSERT_TRUE(report.ok());
  EXPECT_THAT(report->faults, IsEmpty());
  EXPECT_EQ(copy->stats().text_documents, shard().stats().text_documents);
}

INSTANTIATE_TEST_SUITE_P(Seeds, ShippedShardTest,
                         testing::Range(std::uint64_t{1}, std::uint64_t{6}));

TEST_F(ReplicationTest, ALogPageHasEachThingOnceInItsLastState) {
  Entity entity = made("a");
  do_all({PutEntity{.entity = entity}, PutEdge{.edge = edge("a", "cites", "b")}});
  entity.text = "later";
  do_all({PutEntity{.entity = entity}, RemoveEdge{.edge = edge("a", "cites", "b").id}});
  const LogPage page = *read_log(view(), {});
  EXPECT_EQ(page.up_to, 4U);
  ASSERT_EQ(page.records.size(), 2U);
  EXPECT_EQ(std::get<EntityRecord>(page.records[0]).entity, entity);
  EXPECT_TRUE(std::get<EdgeRecord>(page.records[1]).deleted);
}

TEST_F(ReplicationTest, AFilteredPageWithoutRecordsStillTellsHowFarItRead) {
  do_all({PutEntity{.entity = made("a")}, PutEntity{.entity = made("b")}});
  const LogPage page = *read_log(view(), {.partitions = {{PartitionId{9}}}});
  EXPECT_THAT(page.records, IsEmpty());
  EXPECT_EQ(page.up_to, 2U);
}

TEST_F(ReplicationTest, AnEntityThatComesIntoAPartitionBringsItsEdgesAndFragments) {
  do_all({PutEdge{.edge = edge("a", "cites", "b")},
          PutEntity{.entity = made("a"), .partition = PartitionId{1}},
          AddFragment{.id = id("a"), .fragment = {1, "x"}},
          AddEdgeFragment{.from = id("a"), .name = "cites", .to = id("b"), .fragment = {1, "y"}}});
  EXPECT_EQ(read_log(view(), {.partitions = {{PartitionId{1}}}})->records.size(), 4U);
  do_all({AssignPartition{.id = id("a"), .partition = kOther}});
  const LogPage page = *read_log(view(), {.after = 5, .partitions = {{kOther}}});
  EXPECT_EQ(page.records.size(), 4U);
  copy(page.records);
  expect_same(view(), copy_.view(), kOther);
}

TEST_F(ReplicationTest, ATombstoneThatWasPurgedIsStillInTheLog) {
  do_all({PutEntity{.entity = made("a")}, PutEdge{.edge = edge("a", "cites", "b")},
          AddFragment{.id = id("a"), .fragment = {1, "x"}},
          AddEdgeFragment{.from = id("a"), .name = "cites", .to = id("b"), .fragment = {1, "y"}}});
  copy(read_log(view(), {})->records);
  do_all({RemoveEntity{.id = id("a")}});
  ASSERT_TRUE(truth().purge_deletions({.epoch = 1}).ok());
  copy(read_log(view(), {})->records);
  EXPECT_EQ(copy_.view().counters().entities, 0U);
  EXPECT_EQ(copy_.view().counters().edges, 0U);
  EXPECT_EQ(copy_.view().counters().fragments, 0U);
}

TEST_F(ReplicationTest, APartitionIsForgottenAsIfItHadNeverBeenThere) {
  const PartitionId moves{1};
  const auto fill = [&](const PartitionId partition, const std::string& prefix) {
    Entity said = made(prefix + "a");
    said.summaries = {"a summary"};
    Edge cites = edge(prefix + "a", "cites", prefix + "b");
    cites.summary = "a summary";
    do_all({PutEntity{.entity = said, .partition = partition}, PutEdge{.edge = cites},
            AddFragment{.id = id(prefix + "a"), .fragment = {1, "x"}},
            AddEdgeFragment{.from = id(prefix + "a"),
                            .name = "cites",
                            .to = id(prefix + "b"),
                            .fragment = {1, "y"}},
            PutEntity{.entity = made(prefix + "b"), .partition = partition},
            PutEdge{.edge = edge(prefix + "b", "cites", prefix + "a")},
            PutEntity{.entity = made(prefix + "c"), .partition = partition},
            RemoveEntity{.id = id(prefix + "c")},
            RemoveEdge{.edge = edge(prefix + "b", "cites", prefix + "a").id}});
  };
  fill(kFirst, "stays ");
  const PartitionDigest stays = *digest_partition(view(), kFirst);
  const Counters before = view().counters();
  fill(moves, "goes ");
  const auto records = all_records(view(), {.partition = moves});
  const PartitionDigest there = *digest_partition(view(), moves);
  for (std::size_t left = 3; left > 0; --left) {
    const auto ids = partition_ids(view(), {.partition = moves});
    ASSERT_EQ(ids->ids.size(), left);
    EXPECT_FALSE(ids->next);
    const DocId first = ids->ids.front();
    EXPECT_EQ(partition_ids(view(), {.partition = moves, .after = first})->ids.size(), left - 1);
    // The same in small pieces, which may have no id.
    std::vector<DocId> piecewise;
    PartitionIdsRequest piece{.partition = moves, .limit = 2, .most_passed = 1};
    do {
      const auto page = partition_ids(view(), piece);
      EXPECT_LE(page->ids.size(), 2U);
      std::ranges::copy(page->ids, std::back_inserter(piecewise));
      piece.after = page->next;
    } while (piece.after);
    EXPECT_EQ(piecewise, ids->ids);
    ASSERT_TRUE(truth().forget(std::vector{first}).ok());
  }
  EXPECT_THAT(all_records(view(), {.partition = moves}), IsEmpty());
  EXPECT_EQ(*digest_partition(view(), kFirst), stays);
  EXPECT_EQ(view().counters().entities, before.entities);
  EXPECT_EQ(view().counters().edges, before.edges);
  EXPECT_EQ(view().counters().fragments, before.fragments);
  EXPECT_TRUE(check_truth(view(), [](const std::string& fault) { ADD_FAILURE() << fault; }).ok());
  // It can come back, and a copy that reads the log keeps what it has.
  ASSERT_TRUE(truth().apply(records).ok());
  EXPECT_EQ(*digest_partition(view(), moves), there);
}

TEST_F(ReplicationTest, ADifferenceIsFoundAndMendedByItsBucket) {
  std::vector<Mutation> mutations;
  for (int i = 0; i < 300; ++i)
    mutations.emplace_back(PutEntity{.entity = made("e" + std::to_string(i))});
  do_all(mutations);
  std::vector<Record> records = all_records(view(), {.partition = kFirst, .limit = 7});
  ASSERT_EQ(records.size(), 300U);
  const DocId lost = std::get<EntityRecord>(records.back()).entity.id;
  records.pop_back();
  copy(records);
  const PartitionDigest ours = *digest_partition(view(), kFirst);
  const PartitionDigest theirs = *digest_partition(copy_.view(), kFirst);
  for (std::size_t i = 0; i < kBuckets; ++i)
    EXPECT_EQ(ours[i] == theirs[i], i != bucket_of(lost)) << "bucket " << i;
  const auto bucket = all_records(view(), {.partition = kFirst, .bucket = bucket_of(lost)});
  EXPECT_LT(bucket.size(), 20U);
  copy(bucket);
  expect_same(view(), copy_.view(), kFirst);
}

TEST_F(ReplicationTest, ADigestSeesVersionsContentsAndTombstones) {
  do_all({PutEntity{.entity = made("a")}, PutEntity{.entity = made("b")}});
  const PartitionDigest before = *digest_partition(view(), kFirst);
  do_all({PutEntity{.entity = made("a")}});
  const PartitionDigest again = *digest_partition(view(), kFirst);
  EXPECT_NE(before, again);
  do_all({RemoveEntity{.id = id("a")}});
  const PartitionDigest removed = *digest_partition(view(), kFirst);
  ASSERT_TRUE(truth().purge_deletions({.epoch = 1}).ok());
  EXPECT_NE(removed, *digest_partition(view(), kFirst));
  const Version same{.lsn = 2};
  Entity other = made("b");
  other.text = "something else";
  copy({EntityRecord{.entity = other, .version = same, .assigned = same}});
  EXPECT_NE(*digest_partition(view(), kFirst), *digest_partition(copy_.view(), kFirst));
}

TEST_F(ReplicationTest, AnExportOfOtherPartitionsLeavesTheRestAlone) {
  do_all({PutEntity{.entity = made("a"), .partition = PartitionId{1}},
          PutEdge{.edge = edge("a", "cites", "z")}, PutEntity{.entity = made("z")},
          PutEdge{.edge = edge("z", "cites", "a")}, PutEdge{.edge = edge("nobody", "cites", "a")},
          RemoveEdge{.edge = edge("a", "cites", "z").id}});
  EXPECT_EQ(all_records(view(), {.partition = PartitionId{1}, .limit = 1}).size(), 2U);
  EXPECT_EQ(all_records(view(), {.partition = kFirst, .limit = 1}).size(), 3U);
  EXPECT_THAT(all_records(view(), {.partition = PartitionId{5}}), IsEmpty());
  EXPECT_EQ(export_partition(view(), {.after = "no position"}).error().code,
            Code::kInvalidArgument);
}

// The whole hand-off of a partition: copy, follow, compare, change the owner, follow back.
TEST_F(ReplicationTest, APartitionChangesItsOwner) {
  do_all({AssignOwner{.partition = kFirst, .epoch = 1, .owned = true},
          PutEntity{.entity = made("a")}, PutEdge{.edge = edge("a", "cites", "b")}});
  const LogPage page = *read_log(view(), {});
  copy(page.records);
  const auto put = [](Truth& truth, const std::string& text) {
    Entity entity = made("a");
    entity.text = text;
    const std::vector<Mutation> mutations{PutEntity{.entity = entity}};
    return truth.apply(mutations, {.sync = false})->outcomes[0];
  };
  EXPECT_EQ(put(*copy_, "too early").effect, Effect::kNotOwned);
  const Outcome last = put(truth(), "late");
  // The last write of the old owner arrives after the new owner's first.
  do_all({AssignOwner{.partition = kFirst, .epoch = 2, .owned = false}});
  EXPECT_EQ(put(truth(), "too late").effect, Effect::kNotOwned);
  const std::vector<Mutation> take{AssignOwner{.partition = kFirst, .epoch = 2, .owned = true}};
  ASSERT_TRUE(copy_->apply(take).ok());
  const Outcome first = put(*copy_, "new");
  EXPECT_EQ(first.effect, Effect::kDone);
  EXPECT_GT(first.version, last.version);
  copy(read_log(view(), {.after = page.up_to})->records);
  EXPECT_EQ((*copy_.view().get(id("a")))->entity.text, "new");
  EXPECT_TRUE(copy_.view().owners()->at(kFirst).owned);
  do_records(read_log(copy_.view(), {})->records);
  expect_same(view(), copy_.view(), kFirst);
  EXPECT_FALSE(view().owners()->at(kFirst).owned);
}

}  // namespace
}  // namespace kin::index
