#include "index/vector_index.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <thread>

#include "index/testing/vector_fixture.h"

namespace kin::index {
namespace {

VectorSpace space_of(std::uint32_t dimension, Distance distance, RawStorage storage,
                     std::uint8_t bits = 7) {
  return {
      .dimension = dimension, .distance = distance, .storage = storage, .bits = bits, .seed = 5};
}

// An index, its expected contents, and more vectors of the same distribution.
struct Case {
  explicit Case(const VectorSpace& space, std::uint32_t cell_size = 64)
      : model(space), source(space.dimension, 60, 17) {
    options = {.space = space, .raw = &model, .cell_size = cell_size};
    index = std::move(VectorIndex::create(options)).value();
  }
  void insert(std::uint32_t id) {
    std::vector<float> vector = source.next();
    ASSERT_TRUE(index->insert(id, vector).ok());
    model.set(id, std::move(vector));
  }
  void fill(std::uint32_t count) {
    for (std::uint32_t id = 0; id < count; ++id) insert(id);
    run_steps(*index);
  }
  void remove(std::uint32_t id) {
    const bool was = model.vectors().contains(id);
    EXPECT_EQ(index->remove(id), was);
    model.erase(id);
  }
  double recall(const VectorSearch& how, int queries = 60) {
    double sum = 0;
    for (int i = 0; i < queries; ++i) {
      const std::vector<float> query = source.next();
      sum += recall_of(index->search(query, how).value(), model.nearest(query, how.k, how.filter));
    }
    return sum / queries;
  }

  VectorModel model;
  ClusteredVectors source;
  VectorIndexOptions options;
  std::unique_ptr<VectorIndex> index;
};

TEST(VectorIndex, RefusesSpacesAndVectorsThatMakeNoSense) {
  EXPECT_FALSE(VectorIndex::create({.space = {.dimension = 0}}).ok());
  EXPECT_FALSE(VectorIndex::create({.space = {.dimension = 4, .bits = 9}}).ok());
  EXPECT_FALSE(
      VectorIndex::create({.space = {.dimension = 4, .storage = RawStorage::kElsewhere}}).ok());
  const auto index = std::move(VectorIndex::create({.space = {.dimension = 2}})).value();
  EXPECT_FALSE(index->insert(1, std::vector<float>{1, 2, 3}).ok());
  EXPECT_FALSE(index->insert(1, std::vector<float>{0, 0}).ok());
  EXPECT_FALSE(index->insert(1, std::vector<float>{NAN, 1}).ok());
  EXPECT_FALSE(index->search(std::vector<float>{1, INFINITY}).ok());
  EXPECT_TRUE(index->search(std::vector<float>{1, 1}).value().empty());
  EXPECT_EQ(index->state(1), VectorState::kAbsent);
}

TEST(VectorIndex, FindsAVectorFromTheMomentItIsInserted) {
  const auto index = std::move(VectorIndex::create({.space = {.dimension = 3}})).value();
  ASSERT_TRUE(index->insert(7, std::vector<float>{1, 0, 0}).ok());
  ASSERT_TRUE(index->insert(9, std::vector<float>{0, 2, 0}).ok());
  EXPECT_EQ(index->state(7), VectorState::kPending);
  const auto hits = index->search(std::vector<float>{0.1F, 1, 0}, {.k = 1}).value();
  ASSERT_EQ(hits.size(), 1U);
  EXPECT_EQ(hits[0].id, 9U);
  EXPECT_NEAR(hits[0].distance, 1 - 1 / std::sqrt(1.01), 1e-5);
  EXPECT_TRUE(index->remove(9));
  EXPECT_FALSE(index->remove(9));
  EXPECT_EQ(index->state(9), VectorState::kPendingDeleted);
  EXPECT_EQ(index->search(std::vector<float>{0.1F, 1, 0}).value().size(), 1U);
}

class EverySpace : public testing::TestWithParam<std::tuple<Distance, RawStorage>> {};

TEST_P(EverySpace, FindsWhatComparingWithEveryVectorFinds) {
  const auto [distance, storage] = GetParam();
  Case test(space_of(48, distance, storage));
  test.fill(6000);
  EXPECT_EQ(test.index->stats().pending, 0U);
  EXPECT_GE(test.index->stats().cells, 60U);
  EXPECT_GE(test.recall({.exact = true}, 20), storage == RawStorage::kF16 ? 0.98 : 0.999);
  EXPECT_GE(test.recall({}), 0.93);
  EXPECT_GE(test.recall({.recall = 0.99, .rerank = VectorSearch::Rerank::kAlways}), 0.97);
}

INSTANTIATE_TEST_SUITE_P(
    All, EverySpace,
    testing::Combine(testing::Values(Distance::kL2, Distance::kCosine, Distance::kDot),
                     testing::Values(RawStorage::kF32, RawStorage::kF16, RawStorage::kElsewhere)));

TEST(VectorIndex, ReportsDistancesThatAreNearTheTruth) {
  for (const Distance distance : {Distance::kL2, Distance::kCosine, Distance::kDot}) {
    Case test(space_of(100, distance, RawStorage::kElsewhere, 8));
    test.fill(3000);
    const std::vector<float> query = test.source.next();
    const auto wanted = test.model.nearest(query, 1);
    const auto found = test.index->search(query, {.k = 1, .recall = 1}).value();
    ASSERT_EQ(found.size(), 1U);
    EXPECT_NEAR(found[0].distance, wanted[0].distance, 0.02 * std::abs(wanted[0].distance));
  }
}

TEST(VectorIndex, MoreBitsFindMore) {
  double last = 0;
  for (const std::uint8_t bits : {1, 3, 8}) {
    Case test(space_of(64, Distance::kL2, RawStorage::kElsewhere, bits));
    test.fill(4000);
    const double recall = test.recall({.recall = 1});
    EXPECT_GT(recall, last + 0.02) << int{bits} << " bits";
    last = recall;
  }
  EXPECT_GE(last, 0.97);
}

TEST(VectorIndex, TheErrorBoundLeavesVectorsToDecide) {
  Case test(space_of(64, Distance::kL2, RawStorage::kF32, 1));
  test.fill(4000);
  EXPECT_GE(test.recall({.recall = 1}), 0.85);
  EXPECT_LE(test.recall({.recall = 1, .rerank = VectorSearch::Rerank::kNever}), 0.8);
}

TEST(VectorIndex, FiltersKeepTheirRecallAtAnySelectivity) {
  for (const RawStorage storage : {RawStorage::kElsewhere, RawStorage::kF16}) {
    Case test(space_of(48, Distance::kCosine, storage));
    test.fill(20000);
    Random random(3);
    for (const double share : {0.5, 0.2, 0.1, 0.01, 0.001}) {
      std::vector<std::uint32_t> ids;
      for (std::uint32_t id = 0; id < 20000; ++id)
        if (random.unit() < share) ids.push_back(id);
      const IdFilter filter = IdFilter::of(ids);
      EXPECT_GE(test.recall({.filter = &filter}, 30), 0.95) << share;
    }
  }
}

TEST(VectorIndex, FiltersThatLieFarFromTheQueryStillGiveTheirNearest) {
  Case test(space_of(32, Distance::kL2, RawStorage::kF32));
  test.fill(16000);
  const std::vector<float> query = test.source.next();
  const auto order = test.model.nearest(query, 16000);
  std::vector<std::uint32_t> far;
  for (std::size_t i = 10000; i < order.size(); ++i) far.push_back(order[i].id);
  const IdFilter filter = IdFilter::of(far);
  const auto found = test.index->search(query, {.filter = &filter}).value();
  EXPECT_GE(recall_of(found, test.model.nearest(query, 10, &filter)), 0.9);
}

TEST(VectorIndex, AFilterOfNothingFindsNothing) {
  Case test(space_of(16, Distance::kL2, RawStorage::kF32));
  test.fill(3000);
  const IdFilter filter = IdFilter::of({});
  EXPECT_TRUE(test.index->search(test.source.next(), {.filter = &filter}).value().empty());
}

TEST(VectorIndex, RemovedVectorsAreNeverFoundAndTheirRoomIsReclaimed) {
  Case test(space_of(32, Distance::kL2, RawStorage::kElsewhere));
  test.fill(8000);
  const std::size_t before = test.index->stats().bytes;
  for (std::uint32_t id = 0; id < 8000; ++id)
    if (id % 8 != 0) test.remove(id);
  EXPECT_EQ(test.index->state(1), VectorState::kDeleted);
  for (int i = 0; i < 20; ++i) {
    const std::vector<VectorHit> hits = test.index->search(test.source.next()).value();
    for (const VectorHit& hit : hits) EXPECT_EQ(hit.id % 8, 0U);
  }
  EXPECT_GE(test.recall({}), 0.93);
  run_steps(*test.index);
  EXPECT_EQ(test.index->state(1), VectorState::kAbsent);
  const VectorStats stats = test.index->stats();
  EXPECT_EQ(stats.vectors, 1000U);
  EXPECT_LE(stats.deleted, 250U);
  EXPECT_LT(stats.bytes, before / 2);
  EXPECT_GE(test.recall({}), 0.93);
}

TEST(VectorIndex, AnUpdateReplacesTheOldVector) {
  Case test(space_of(32, Distance::kL2, RawStorage::kF32));
  test.fill(4000);
  const std::vector<float> old = test.model.vectors().at(11);
  const std::vector<float> moved(32, 40.0F);
  for (const bool built : {false, true}) {
    if (built) run_steps(*test.index);
    ASSERT_TRUE(built || test.index->insert(11, moved).ok());
    EXPECT_EQ(test.index->state(11), built ? VectorState::kIndexed : VectorState::kPending);
    const auto near_old = test.index->search(old, {.k = 5}).value();
    EXPECT_TRUE(std::ranges::none_of(near_old, [](const VectorHit& h) { return h.id == 11; }));
    EXPECT_EQ(test.index->search(moved, {.k = 1}).value()[0].id, 11U);
  }
  EXPECT_EQ(test.index->stats().vectors, 4000U);
}

TEST(VectorIndex, GrowsBySplitsAndKeepsItsRecall) {
  Case test(space_of(24, Distance::kL2, RawStorage::kElsewhere));
  test.fill(2100);
  const std::uint32_t before = test.index->stats().cells;
  for (std::uint32_t id = 2100; id < 8300; ++id) {
    test.insert(id);
    if (id % 300 == 0) run_steps(*test.index);
  }
  run_steps(*test.index);
  EXPECT_GT(test.index->stats().cells, before);
  EXPECT_GE(test.recall({}), 0.93);
}

TEST(VectorIndex, LeavesAFewVectorsPendingWhileManyMoreComeToALargeIndex) {
  const VectorSpace space = space_of(4, Distance::kL2, RawStorage::kF32);
  const auto index = std::move(VectorIndex::create({.space = space})).value();
  Random random(1);
  std::uint32_t id = 0;
  const auto insert = [&] {
    std::vector<float> vector(4);
    for (float& value : vector) value = static_cast<float>(random.unit());
    ASSERT_TRUE(index->insert(id++, vector).ok());
  };
  while (id < 50'000) insert();
  SteadyTime now = run_steps(*index);
  EXPECT_EQ(index->stats().pending, 0U);
  for (int i = 0; i < 3; ++i) {
    insert();
    const StepOutcome waits = index->step(now).value();
    EXPECT_FALSE(waits.did_work());
    ASSERT_TRUE(waits.next(now).has_value());
    EXPECT_GT(*waits.next(now), now);
    now = *waits.next(now) - std::chrono::milliseconds(1);
    EXPECT_FALSE(index->step(now).value().did_work());
  }
  EXPECT_EQ(index->stats().pending, 3U);
  now += std::chrono::milliseconds(1);
  EXPECT_TRUE(index->step(now).value().did_work()) << "nobody inserted for a while";
  EXPECT_EQ(index->stats().pending, 0U);
  while (index->stats().pending < 2'000) insert();
  EXPECT_TRUE(index->step(now).value().did_work()) << "enough of them do not wait";
}

TEST(VectorIndex, TakesAnyNumberOfEqualVectors) {
  const VectorSpace space = space_of(8, Distance::kL2, RawStorage::kF32);
  const auto index = std::move(VectorIndex::create({.space = space, .cell_size = 100})).value();
  const std::vector<float> vector(8, 1.5F);
  for (std::uint32_t id = 0; id < 12000; ++id) {
    ASSERT_TRUE(index->insert(id, vector).ok());
    if (id % 3000 == 2999) run_steps(*index);
  }
  const auto hits = index->search(vector, {.k = 20}).value();
  ASSERT_EQ(hits.size(), 20U);
  EXPECT_NEAR(hits[19].distance, 0, 1e-6);
  EXPECT_LT(index->stats().cells, 400U) << "none is split for nothing";
}

TEST(VectorIndex, AnswersTheSameAfterARestart) {
  for (const RawStorage storage : {RawStorage::kF16, RawStorage::kElsewhere}) {
    Case test(space_of(40, Distance::kCosine, storage));
    test.fill(5000);
    std::map<std::uint32_t, std::string> stored;
    const auto save = [&](std::uint64_t lsn) {
      VectorCheckpoint checkpoint = test.index->checkpoint(lsn);
      for (auto& [number, bytes] : checkpoint.changed) stored[number] = std::move(bytes);
      stored.erase(stored.lower_bound(checkpoint.cells), stored.end());
      return std::pair(checkpoint.head, checkpoint.changed.size());
    };
    EXPECT_EQ(save(1).second, test.index->stats().cells);
    test.remove(17);
    EXPECT_EQ(save(2).second, 1U);
    for (std::uint32_t id = 100; id < 140; ++id) test.remove(id);
    for (std::uint32_t id = 5000; id < 5010; ++id) test.insert(id);
    const auto [head, changed] = save(42);
    EXPECT_LT(changed, test.index->stats().cells);

    const auto again = VectorIndex::restore(
        test.options, head, [&](std::uint32_t p) -> Result<std::string> { return stored.at(p); });
    ASSERT_TRUE(again.ok()) << again.error().message;
    EXPECT_EQ((*again)->applied_lsn(), 42U);
    EXPECT_EQ((*again)->stats().vectors, test.index->stats().vectors);
    EXPECT_EQ((*again)->state(5003), VectorState::kPending);
    EXPECT_EQ((*again)->state(17), VectorState::kAbsent);
    for (int i = 0; i < 30; ++i) {
      const std::vector<float> query = test.source.next();
      EXPECT_EQ((*again)->search(query).value(), test.index->search(query).value());
    }
    run_steps(**again);
    EXPECT_TRUE((*again)->insert(17, test.source.next()).ok());
  }
}

TEST(VectorIndex, RefusesACheckpointOfAnotherSpaceOrAMixedOne) {
  Case test(space_of(16, Distance::kL2, RawStorage::kF32));
  test.fill(3000);
  const VectorCheckpoint first = test.index->checkpoint(1);
  for (std::uint32_t id = 0; id < 3000; id += 2) test.remove(id);
  const VectorCheckpoint second = test.index->checkpoint(2);
  const auto old_cells = [&](std::uint32_t p) -> Result<std::string> {
    return first.changed[p].second;
  };
  EXPECT_TRUE(VectorIndex::restore(test.options, first.head, old_cells).ok());
  EXPECT_FALSE(VectorIndex::restore(test.options, second.head, old_cells).ok());
  VectorIndexOptions other = test.options;
  other.space.bits = 5;
  EXPECT_FALSE(VectorIndex::restore(other, first.head, old_cells).ok());
}

TEST(VectorIndex, IsTheSameIndexForTheSameSeed) {
  std::string heads[2];
  for (std::string& head : heads) {
    Case test(space_of(20, Distance::kL2, RawStorage::kF16));
    test.fill(3000);
    head = test.index->checkpoint(9).head;
  }
  EXPECT_EQ(heads[0], heads[1]);
}

// Every operation in a random order, held against a model; exact searches must agree entirely.
TEST(VectorIndex, AgreesWithAModelOverManyOperations) {
  for (const RawStorage storage : {RawStorage::kF32, RawStorage::kElsewhere}) {
    Case test(space_of(12, Distance::kL2, storage), 32);
    Random random(8);
    std::map<std::uint32_t, std::string> stored;
    for (int i = 0; i < 20000; ++i) {
      const auto id = static_cast<std::uint32_t>(random.below(6000));
      const std::uint64_t what = random.below(1000);
      if (what < 600)
        test.insert(id);
      else if (what < 900)
        test.remove(id);
      else if (what < 997)
        ASSERT_TRUE(test.index->step({}).ok());
      else if (what < 998) {
        VectorCheckpoint checkpoint = test.index->checkpoint(static_cast<std::uint64_t>(i));
        for (auto& [number, bytes] : checkpoint.changed) stored[number] = std::move(bytes);
        auto again = VectorIndex::restore(
            test.options, checkpoint.head,
            [&](std::uint32_t p) -> Result<std::string> { return stored.at(p); });
        ASSERT_TRUE(again.ok()) << again.error().message;
        test.index = std::move(*again);
      } else {
        const std::vector<float> query = test.source.next();
        const auto found = test.index->search(query, {.exact = true}).value();
        const auto wanted = test.model.nearest(query, 10);
        ASSERT_EQ(found.size(), wanted.size());
        for (std::size_t k = 0; k < found.size(); ++k)
          ASSERT_NEAR(found[k].distance, wanted[k].distance, 1e-3);
        const std::vector<VectorHit> near = test.index->search(query, {.k = 100}).value();
        for (const VectorHit& hit : near) ASSERT_TRUE(test.model.vectors().contains(hit.id));
      }
      ASSERT_EQ(test.index->stats().vectors, test.model.size());
    }
    run_steps(*test.index);
    EXPECT_GE(test.recall({}), 0.93);
  }
}

TEST(VectorIndex, ReadersSeeWholeUpdatesWhileOthersWrite) {
  const VectorSpace space = space_of(16, Distance::kL2, RawStorage::kF32);
  const auto index = std::move(VectorIndex::create({.space = space, .cell_size = 32})).value();
  ClusteredVectors source(16, 20, 4);
  std::vector<std::vector<float>> vectors;
  for (std::uint32_t id = 0; id < 4000; ++id) {
    vectors.push_back(source.next());
    ASSERT_TRUE(index->insert(id, vectors.back()).ok());
  }
  run_steps(*index);
  std::atomic<bool> done{false};
  std::atomic<int> missing{0};
  // Even ids are inserted again and again with the
  // same vector, so searches must always find them.
  std::thread writer([&] {
    Random random(2);
    for (int i = 0; i < 6000; ++i) {
      const auto id = static_cast<std::uint32_t>(random.below(4000));
      const bool goes = id % 2 == 1 && i % 3 == 0;
      if (goes) index->remove(id);
      EXPECT_TRUE(goes || index->insert(id, vectors[id]).ok());
      EXPECT_TRUE(i % 10 != 0 || index->step({}).ok());
    }
    done = true;
  });
  std::thread reader([&] {
    Random random(6);
    while (!done) {
      const auto id = static_cast<std::uint32_t>(2 * random.below(2000));
      const IdFilter only = IdFilter::of(std::vector<std::uint32_t>{id});
      const auto hits = index->search(vectors[id], {.k = 3}).value();
      const auto filtered = index->search(vectors[id], {.k = 3, .filter = &only}).value();
      if (hits.empty() || hits[0].id != id) ++missing;
      if (filtered.size() != 1 || filtered[0].id != id) ++missing;
    }
  });
  writer.join();
  reader.join();
  EXPECT_EQ(missing, 0);
}

}  // namespace
}  // namespace kin::index
