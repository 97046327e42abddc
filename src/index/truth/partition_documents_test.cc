#include "index/truth/partition_documents.h"

#include <gtest/gtest.h>

#include "index/testing/random_mutations.h"
#include "index/testing/simulated_truth.h"

namespace kin::index {
namespace {

class PartitionDocumentsTest : public testing::TestWithParam<std::uint64_t> {};

// Puts, updates, deletions, edges, fragments and moves between partitions. Edges of entities that do
// not exist are of partition 0 for the log, and nobody's for the rows of members.
TEST_P(PartitionDocumentsTest, FollowingTheLogGivesWhatReadingTheRowsGives) {
  SimulatedTruth truth;
  RandomMutations random(GetParam());
  const auto id_of = [](std::uint32_t i) { return PartitionId{i}; };
  ASSERT_TRUE(truth->apply(random.own_all()).ok());
  std::vector<PartitionDocuments> followed;
  for (std::uint32_t i = 0; i < RandomMutations::kPartitions; ++i)
    followed.emplace_back(id_of(i), std::move(*documents_of(truth.view(), id_of(i))));
  Lsn at = truth->last_lsn();
  for (int batch = 0; batch < 300; ++batch) {
    std::vector<Mutation> mutations;
    for (std::uint64_t left = 1 + random.below(5); left > 0; --left)
      mutations.push_back(random.any_mutation());
    if (batch % 20 == 0) {
      ASSERT_TRUE(truth->apply(random.own_all()).ok());
    }
    ASSERT_TRUE(truth->apply(mutations).ok());
    const TruthView view = truth.view();
    const ChangesPage page = std::move(*view.changes({.after = at}));
    at = page.up_to;
    DocSet all;
    for (std::uint32_t i = 0; i < RandomMutations::kPartitions; ++i)
      all.add(*documents_of(view, id_of(i)));
    for (std::uint32_t i = 0; i < RandomMutations::kPartitions; ++i) {
      for (const Change& change : page.changes)
        ASSERT_TRUE(followed[i].follow(view, change).ok());
      DocSet numbers = followed[i].numbers();
      numbers.keep(all);
      ASSERT_EQ(numbers.numbers(), documents_of(view, id_of(i))->numbers())
          << "partition " << i << ", batch " << batch;
    }
    DocSet outside = *documents_of(view, id_of(0));
    outside.add(*documents_of(view, id_of(2)));
    ASSERT_EQ(documents_outside(view, {id_of(1)})->numbers(), outside.numbers());
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, PartitionDocumentsTest, testing::Range<std::uint64_t>(0, 20));

}  // namespace
}  // namespace kin::index
