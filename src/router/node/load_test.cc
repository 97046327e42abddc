#include "router/node/load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace kin::router {
namespace {

using index::PartitionId;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr PartitionId kOne{1};
constexpr PartitionId kTwo{2};

// As if the machine had been on for a while.
constexpr SteadyTime kStart{std::chrono::hours{5}};

TEST(Loads, TheSameWorkInEverySecondIsTheAverage) {
  Loads loads;
  SteadyTime now = kStart;
  const std::array partitions{kOne};
  for (int second = 0; second < 3'600; ++second) {
    now += seconds{1};
    loads.add(partitions, milliseconds{30}, now);
  }
  EXPECT_NEAR(loads.at(now).at(kOne), 30, 0.5);
}

TEST(Loads, WorkCountsHalfAfterTheHalfLifeAndIsForgottenInTheEnd) {
  Loads loads;
  const std::array partitions{kOne};
  loads.add(partitions, seconds{10}, kStart);
  const double first = loads.at(kStart).at(kOne);
  EXPECT_GT(first, 0);
  EXPECT_NEAR(loads.at(kStart + Loads::kHalfLife).at(kOne), first / 2, first / 1'000);
  EXPECT_THAT(loads.at(kStart + std::chrono::hours{24}), IsEmpty());
}

TEST(Loads, WorkForSeveralPartitionsIsDividedAmongThem) {
  Loads loads;
  const std::array partitions{kOne, kTwo, kTwo, kTwo};
  loads.add(partitions, milliseconds{40}, kStart);
  const PartitionLoads now = loads.at(kStart);
  EXPECT_NEAR(now.at(kTwo), 3 * now.at(kOne), 1e-9);
}

TEST(Loads, WorkThatEndsOutOfOrderIsNotLost) {
  Loads loads;
  const std::array partitions{kOne};
  loads.add(partitions, milliseconds{40}, kStart + seconds{1});
  loads.add(partitions, milliseconds{40}, kStart);
  Loads once;
  once.add(partitions, milliseconds{40}, kStart);
  EXPECT_GT(loads.at(kStart + seconds{1}).at(kOne), 1.9 * once.at(kStart).at(kOne));
}

index::PutEntity put(PartitionId partition) {
  return {.entity = {}, .partition = partition};
}

index::StoredEntity stored(PartitionId partition) {
  index::StoredEntity entity;
  entity.head.partition = partition;
  return entity;
}

TEST(WorkedFor, AWriteCountsForThePartitionsOfItsEntities) {
  const WriteRequest write{.mutations = {put(kTwo), put(kTwo)}, .partitions = {kOne, kTwo}};
  EXPECT_THAT(worked_for(write, WriteReply{}), ElementsAre(kTwo, kTwo));
  const WriteRequest removal{.mutations = {index::RemoveEntity{}}, .partitions = {kOne, kTwo}};
  EXPECT_THAT(worked_for(removal, WriteReply{}), ElementsAre(kOne, kTwo));
}

TEST(WorkedFor, ASearchCountsForThePartitionsOfWhatItShows) {
  FindRequest find;
  find.query.scope.partitions = Partitions{kOne, kTwo};
  EXPECT_THAT(worked_for(find, FindReply{}), ElementsAre(kOne, kTwo));
  FindReply reply;
  reply.presented.documents = {index::StoredDocument(stored(kTwo)), std::nullopt};
  EXPECT_THAT(worked_for(find, reply), ElementsAre(kTwo));
}

TEST(WorkedFor, AReadCountsForThePartitionsOfWhatIsThere) {
  const GetRequest get{.partitions = {kOne, kTwo}};
  EXPECT_THAT(worked_for(get, Entities{.entities = {stored(kOne), std::nullopt}}),
              ElementsAre(kOne));
  EXPECT_THAT(worked_for(ListRequest{.partition = kTwo}, index::ScanPage{}), ElementsAre(kTwo));
}

TEST(WorkedFor, CareOfTheShardCountsForNoPartition) {
  EXPECT_THAT(worked_for(HealthRequest{}, Health{}), IsEmpty());
  EXPECT_THAT(worked_for(DigestRequest{.partition = kOne}, DigestReply{}), IsEmpty());
}

}  // namespace
}  // namespace kin::router
