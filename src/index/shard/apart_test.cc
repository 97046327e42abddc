// A partition that is on its way must cost searches for others nothing.
#include <gmock/gmock.h>

#include "index/find.h"
#include "index/testing/shard_fixture.h"
#include "index/truth/partition_documents.h"

namespace kin::index {
namespace {

constexpr PartitionId kOwn{1};
constexpr PartitionId kForeign{2};

class ApartTest : public ShardFixture {
 protected:
  void own(PartitionId partition, bool owned = true) {
    apply({AssignOwner{.partition = partition, .epoch = ++epoch_, .owned = owned}});
  }

  void put(const std::string& key, PartitionId partition) {
    apply({PutEntity{.entity = made(key, "tide " + key), .partition = partition}});
  }

  // As a page of a copy does.
  void arrive(int first, int count) {
    std::vector<Record> records;
    for (int i = first; i < first + count; ++i) {
      const std::string key = "copy" + std::to_string(i);
      records.push_back(EntityRecord{.entity = made(key, "tide and sand " + key),
                                     .version = {.epoch = 1, .lsn = 1},
                                     .partition = kForeign});
      EdgeRecord link{.edge = edge(key, "cites", "a"), .version = {.epoch = 1, .lsn = 1}};
      link.edge.summary = "tide";
      records.push_back(link);
    }
    const auto applied = shard().apply(records, {.sync = false});
    ASSERT_TRUE(applied.ok()) << applied.error().message;
  }

  static ShardQuery tide() {
    ShardQuery query{.text = TextLeg{.query = "tide"}, .k = 100};
    query.scope.partitions = std::set<PartitionId>{kOwn};
    return query;
  }

  // The documents outside of kOwn, if the shard need not read them.
  std::optional<std::vector<std::uint32_t>> known() {
    const auto sets = shard().view().known_outside({kOwn});
    if (!sets) return {};
    DocSet all;
    for (const auto& numbers : *sets) all.add(*numbers);
    EXPECT_EQ(all.numbers(), documents_outside(shard().view().truth(), {kOwn})->numbers());
    return all.numbers();
  }

  TextStatistics statistics() { return *read_statistics(shard().view(), tide()); }
  std::uint64_t state() {
    const ShardView view = shard().view();
    return view.text().statistics_state(view.sections_outside(tide().scope.partitions));
  }

  std::uint64_t epoch_ = 0;
};

TEST_F(ApartTest, ACopyThatArrivesIsKnownAndCountsInNoStatistics) {
  open(given_options());
  own(kOwn);
  for (int i = 0; i < 20; ++i) put(std::to_string(i), kOwn);
  step_all();
  const TextStatistics before = statistics();
  const std::uint64_t state_before = state();
  const auto hits = find(shard().view(), tide())->legs.at(0).hits;
  for (int page = 0; page < 30; ++page) {
    arrive(page * 10, 10);
    ASSERT_TRUE(known());
    EXPECT_EQ(known()->size(), static_cast<std::size_t>(20 * (page + 1)));
    EXPECT_EQ(state(), state_before);
    step_all();
  }
  EXPECT_EQ(state(), state_before);
  EXPECT_EQ(statistics().documents, before.documents);
  EXPECT_EQ(statistics().frequencies, before.frequencies);
  const auto found = find(shard().view(), tide())->legs.at(0).hits;
  ASSERT_EQ(found.size(), hits.size());
  for (std::size_t i = 0; i < hits.size(); ++i) EXPECT_EQ(found[i].score, hits[i].score);
  // It is handed over.
  own(kForeign);
  EXPECT_GT(statistics().documents, before.documents);
  ShardQuery both = tide();
  both.scope.partitions->insert(kForeign);
  EXPECT_EQ(find(shard().view(), both)->candidates.size(), 100U);
  expect_clean();
}

TEST_F(ApartTest, AnEntityThatLeavesACopyIsFoundInItsNewPartition) {
  open(given_options());
  own(kOwn);
  put("0", kOwn);
  arrive(0, 10);
  const Record moved = EntityRecord{.entity = made("copy3", "tide and sand copy3"),
                                    .version = {.epoch = 1, .lsn = 1},
                                    .partition = kOwn,
                                    .assigned = {.epoch = 1, .lsn = 2}};
  ASSERT_TRUE(shard().apply({&moved, 1}).ok());
  ASSERT_TRUE(known());
  EXPECT_EQ(known()->size(), 18U);
  // The entity that moved, its edge, and the one that was here.
  EXPECT_EQ(find(shard().view(), tide())->candidates.size(), 3U);
}

TEST_F(ApartTest, APartitionThatIsGivenUpIsKnownAtOnceIfItWasKeptApart) {
  open(given_options());
  own(kOwn);
  own(kForeign);
  for (int i = 0; i < 10; ++i) put(std::to_string(i), i < 5 ? kOwn : kForeign);
  ASSERT_TRUE(shard().keep_apart(kForeign).ok());
  put("10", kForeign);
  own(kForeign, false);
  ASSERT_TRUE(known());
  EXPECT_EQ(known()->size(), 6U);
  EXPECT_EQ(find(shard().view(), tide())->candidates.size(), 5U);
  ASSERT_TRUE(shard().forget(std::vector{id("5"), id("6"), id("7")}).ok());
  EXPECT_EQ(known()->size(), 3U);
  // Owned again, it counts as before.
  own(kForeign);
  put("11", kForeign);
  ShardQuery both = tide();
  both.scope.partitions->insert(kForeign);
  EXPECT_EQ(find(shard().view(), both)->candidates.size(), 9U);
}

TEST_F(ApartTest, WithoutAWordBeforeAPartitionIsKnownAfterAStep) {
  open(given_options());
  own(kOwn);
  own(kForeign);
  put("0", kOwn);
  put("1", kForeign);
  own(kForeign, false);
  EXPECT_FALSE(known());
  EXPECT_EQ(find(shard().view(), tide())->candidates.size(), 1U);
  step_all();
  ASSERT_TRUE(known());
  EXPECT_EQ(known()->size(), 1U);
}

TEST_F(ApartTest, ACopyFromBeforeTheShardWasOpenedIsKnownAfterAStep) {
  open(given_options());
  own(kOwn);
  for (int i = 0; i < 8; ++i) put(std::to_string(i), kOwn);
  step_all();
  const TextStatistics before = statistics();
  arrive(0, 20);
  ASSERT_TRUE(shard().checkpoint().ok());
  open(given_options());
  EXPECT_FALSE(known());
  step_all();
  ASSERT_TRUE(known());
  EXPECT_EQ(known()->size(), 40U);
  EXPECT_EQ(statistics().documents, before.documents);
  arrive(20, 20);
  EXPECT_EQ(known()->size(), 80U);
  EXPECT_EQ(statistics().documents, before.documents);
  EXPECT_EQ(find(shard().view(), tide())->candidates.size(), 8U);
}

}  // namespace
}  // namespace kin::index
