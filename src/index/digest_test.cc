// A digest that is kept is that of the whole partition, whatever is written meanwhile.
#include "index/digest.h"

#include <gtest/gtest.h>

#include "index/replication.h"
#include "index/testing/random_mutations.h"
#include "index/testing/shard_fixture.h"

namespace kin::index {
namespace {

class KeptDigestTest : public ShardFixture {
 protected:
  void SetUp() override { open({}); }
  void write(RandomMutations& random) {
    std::vector<Mutation> mutations;
    for (std::uint64_t left = 1 + random.below(20); left > 0; --left)
      mutations.push_back(random.any_mutation());
    apply(mutations);
  }
  KeptDigest compute(PartitionId partition) {
    return std::move(*KeptDigest::compute(shard().view(), partition));
  }
  void expect_current(KeptDigest& digest, PartitionId partition) {
    const ShardView view = shard().view();
    const Status advanced = digest.advance(view);
    ASSERT_TRUE(advanced.ok()) << advanced.error().message;
    EXPECT_EQ(digest.lsn(), view.lsn());
    EXPECT_EQ(digest.digest(), *digest_partition(view.truth(), partition));
  }
};

TEST_F(KeptDigestTest, FollowsWhateverIsWritten) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    open({});
    RandomMutations random(seed);
    for (int i = 0; i < 10; ++i) write(random);
    std::vector<KeptDigest> digests;
    for (std::uint32_t i = 0; i < RandomMutations::kPartitions; ++i)
      digests.push_back(compute(PartitionId{i}));
    for (int round = 0; round < 20; ++round) {
      for (std::uint64_t batches = random.below(4); batches > 0; --batches) write(random);
      for (std::uint32_t i = 0; i < RandomMutations::kPartitions; ++i)
        expect_current(digests[i], PartitionId{i});
    }
  }
}

TEST_F(KeptDigestTest, FindsEveryKindOfDifference) {
  const PartitionId here{1};
  apply({PutEntity{.entity = made("a"), .partition = here},
         PutEntity{.entity = made("b"), .partition = here},
         PutEdge{.edge = edge("a", "cites", "b")},
         AddFragment{.id = id("a"), .fragment = {1, "x"}}});
  KeptDigest digest = compute(here);
  std::vector<PartitionDigest> seen{digest.digest()};
  const std::vector<Mutation> changes{
      PutEntity{.entity = made("a", "another text"), .partition = here},
      RemoveEdge{.edge = edge("a", "cites", "b").id},
      AddFragment{.id = id("b"), .fragment = {2, "y"}},
      RemoveEntity{.id = id("b")},
      AssignPartition{.id = id("a"), .partition = PartitionId{2}}};
  for (const Mutation& change : changes) {
    apply({change});
    expect_current(digest, here);
    for (const PartitionDigest& before : seen) EXPECT_NE(digest.digest(), before);
    seen.push_back(digest.digest());
  }
}

TEST_F(KeptDigestTest, IsMadeAgainWhereTheLogIsTrimmed) {
  apply({PutEntity{.entity = made("a")}});
  KeptDigest digest = compute(PartitionId{0});
  const PartitionDigest before = digest.digest();
  apply({PutEntity{.entity = made("b")}});
  ASSERT_TRUE(shard().checkpoint().ok());
  apply({PutEntity{.entity = made("c")}});  // the view before has the log as it was
  const Status advanced = digest.advance(shard().view());
  ASSERT_FALSE(advanced.ok());
  EXPECT_EQ(advanced.error().code, Code::kFailedPrecondition);
  EXPECT_EQ(digest.digest(), before);
  expect_current(*std::make_unique<KeptDigest>(compute(PartitionId{0})), PartitionId{0});
}

}  // namespace
}  // namespace kin::index
