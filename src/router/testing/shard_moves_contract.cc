// The part of the contract that is about moves of partitions.
#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

#include "router/testing/shard_client_contract.h"

namespace kin::router {

using index::PartitionId;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

namespace {

constexpr MoveName kIn{.id = 7, .partition = PartitionId{3}};   // to the shard
constexpr MoveName kOut{.id = 8, .partition = PartitionId{1}};  // away from it

AssignRequest owner(PartitionId partition, std::uint64_t epoch, bool owned) {
  return {.owners = {{.partition = partition, .epoch = epoch, .owned = owned}}};
}

}  // namespace

// Here, so that every program with the suite links these tests, too.
ShardClientContract::ShardClientContract() : reached_(GetParam()()) {}

TEST_P(ShardClientContract, AWriteThatWasAppliedIsNotRefusedAfterTheFence) {
  assign();
  const WriteRequest applied = request(1, {put("a", "tide")});
  const WriteReply reply = ask(applied);
  ask(owner(PartitionId{1}, kEpoch + 1, false));
  EXPECT_EQ(ask(applied).outcomes.at(0).version, reply.outcomes.at(0).version);
  EXPECT_EQ(refusal(request(2, {put("a", "sand")})), Refused{.epoch = kEpoch + 1});
  reached().restart();
  EXPECT_TRUE(ask(applied).forgotten);
  EXPECT_EQ(refusal(request(2, {put("a", "sand")})), Refused{.epoch = kEpoch + 1});
}

TEST_P(ShardClientContract, ASampleTellsWhereItsVectorsAre) {
  assign();
  std::vector<index::Mutation> puts;
  for (std::uint32_t i = 0; i < 6; ++i) {
    index::PutEntity one = put(std::to_string(i), "tide", 1 + i % 2);
    if (i < 4) one.entity.vectors = {{"main", {static_cast<float>(i), 1, 0, 0}}};
    puts.emplace_back(std::move(one));
  }
  write(puts);
  SampleRequest request{.partitions = {PartitionId{1}, PartitionId{2}}, .space = "main", .seed = 3};
  const VectorSample all = ask(request);
  ASSERT_THAT(all.vectors, SizeIs(4));
  ASSERT_THAT(all.partitions, SizeIs(4));
  ASSERT_THAT(all.lots, SizeIs(4));
  for (std::size_t i = 0; i < 4; ++i) {
    const auto number = static_cast<std::uint32_t>(all.vectors[i].at(0));
    EXPECT_EQ(all.partitions[i], PartitionId{1 + number % 2});
  }
  EXPECT_TRUE(std::ranges::is_sorted(all.lots));
  EXPECT_GT(all.below, all.lots.back());
  request.limit = 3;
  const VectorSample some = ask(request);
  EXPECT_LE(some.vectors.size(), 3U);
  for (const std::uint64_t lot : some.lots) EXPECT_LT(lot, some.below);
  request.limit = 100;
  request.partitions = {PartitionId{2}};
  EXPECT_THAT(ask(request).vectors, SizeIs(2));
}

TEST_P(ShardClientContract, APartitionIsReceivedAndRemembersHowFar) {
  assign();
  EXPECT_EQ(failure(TakeRequest{.move = kIn}), Code::kFailedPrecondition);
  EXPECT_EQ(ask(ReceiveRequest{.move = kIn}), MoveProgress{.ready = true});
  const index::EntityRecord record{.entity = made("a", "tide"),
                                   .version = {.epoch = 2, .lsn = 1},
                                   .partition = PartitionId{3}};
  const MoveProgress progress{.ready = true, .next = "x", .lsn = 4};
  const TakeRequest take{.move = kIn,
                         .records = {record},
                         .places = {{.id = id("a"), .partition = PartitionId{3}}},
                         .progress = progress};
  EXPECT_EQ(ask(take), progress);
  EXPECT_EQ(ask(TakeRequest{.move = kIn, .progress = {.copied = true, .lsn = 3}}),
            (MoveProgress{.ready = true, .copied = true, .lsn = 4}));
  ask(take);  // late, and does no harm
  reached().restart();
  EXPECT_EQ(ask(ReceiveRequest{.move = kIn}), progress);
  EXPECT_EQ(refusal(GetRequest{.partitions = {PartitionId{3}}}), Refused{.epoch = kEpoch});
  ask(owner(PartitionId{3}, kEpoch + 1, true));
  const GetRequest get{.ids = {id("a")}, .partitions = {PartitionId{3}}};
  EXPECT_EQ(refusal(get), Refused{.epoch = kEpoch + 1});
  auto reply = call(client(), get, options(kEpoch + 1));
  EXPECT_EQ(std::get<Entities>(*reply).entities.at(0)->entity.text, "tide");
  const LocateRequest locate{.entities = {{.id = id("a"), .home = PartitionId{3}}}};
  auto places = call(client(), locate, options(kEpoch + 1));
  EXPECT_THAT(std::get<Places>(*places).partitions, ElementsAre(PartitionId{3}));
  // The move is over for the target.
  EXPECT_EQ(failure(take), Code::kFailedPrecondition);
  EXPECT_EQ(failure(ReceiveRequest{.move = kIn}), Code::kFailedPrecondition);
  reached().restart();
  EXPECT_EQ(failure(take), Code::kFailedPrecondition);
}

TEST_P(ShardClientContract, ACopyThatArrivesChangesNoStatistics) {
  assign();
  write({put("a", "tide"), put("b", "sand", 2)});
  const index::ShardQuery query = words("tide");
  const StatisticsReply before = ask(StatisticsRequest{.query = query});
  ask(ReceiveRequest{.move = kIn});
  std::vector<index::Record> records;
  for (int i = 0; i < 20; ++i)
    records.push_back(index::EntityRecord{.entity = made("copy" + std::to_string(i), "tide"),
                                          .version = {.epoch = 2, .lsn = 1},
                                          .partition = PartitionId{3}});
  ask(TakeRequest{.move = kIn, .records = records});
  const FindReply found = ask(
      FindRequest{.query = query, .statistics = before.text, .state = before.state});
  EXPECT_FALSE(found.changed);
  EXPECT_THAT(found.found.candidates, SizeIs(1));
  EXPECT_EQ(ask(StatisticsRequest{.query = query}).text.documents, before.text.documents);
  ask(owner(PartitionId{3}, kEpoch + 1, true));
  const auto after = call(client(), FindRequest{.query = query, .state = before.state},
                          options(kEpoch + 1));
  EXPECT_EQ(std::get<FindReply>(*after).changed->text.documents, before.text.documents + 20);
}

TEST_P(ShardClientContract, ATargetIsEmptiedFirstAndWhenAMoveIsUndone) {
  assign();
  const auto take_one = [&](const MoveName& move, const std::string& key) {
    while (!ask(ReceiveRequest{.move = move, .limit = 1}).ready) {
    }
    ask(TakeRequest{.move = move,
                    .records = {index::EntityRecord{.entity = made(key, "tide"),
                                                    .version = {.epoch = 2, .lsn = 1},
                                                    .partition = move.partition}},
                    .places = {{.id = id(key), .partition = move.partition}}});
  };
  take_one(kIn, "a");
  const DigestReply with_a = ask(DigestRequest{.partition = kIn.partition});
  const MoveName next{.id = kIn.id + 1, .partition = kIn.partition};
  take_one(next, "b");
  EXPECT_EQ(ask(StatsRequest{}).stats.counters.entities, 1U);
  EXPECT_EQ(failure(TakeRequest{.move = kIn}), Code::kFailedPrecondition);  // of an older move
  ask(EndMoveRequest{.move = kIn});  // late, and does no harm
  EXPECT_EQ(ask(StatsRequest{}).stats.counters.entities, 1U);
  EXPECT_NE(ask(DigestRequest{.partition = kIn.partition}).places, with_a.places);
  while (ask(EndMoveRequest{.move = next, .limit = 1}).more) {
  }
  EXPECT_EQ(ask(StatsRequest{}).stats.counters.entities, 0U);
  EXPECT_EQ(ask(DigestRequest{.partition = kIn.partition}).places, Hash128{});
  EXPECT_EQ(failure(ReceiveRequest{.move = next}), Code::kFailedPrecondition);
}

TEST_P(ShardClientContract, APartitionIsCopiedAndItsLogFollowed) {
  assign();
  write({put("a", "x"), put("b", "y"), link("a", "b"), put("c", "z", 2)});
  ask(ClaimRequest{.claims = {{id("a"), PartitionId{1}, PartitionId{1}},
                              {id("b"), PartitionId{1}, PartitionId{2}},
                              {id("c"), PartitionId{2}, PartitionId{2}}}});
  const FollowPage begun = ask(FollowRequest{.move = kOut});
  EXPECT_TRUE(begun.owned);
  EXPECT_EQ(begun.up_to, begun.last);
  EXPECT_THAT(ask(StatsRequest{}).stats.followers, SizeIs(1));
  std::size_t copied = 0;
  CopyRequest copy{.move = kOut, .limit = 1};
  do {
    const index::ExportPage page = ask(copy);
    copied += page.records.size();
    copy.after = page.next;
  } while (copy.after);
  EXPECT_EQ(copied, 3U);
  PlacesRequest places{.move = kOut, .limit = 1};
  const PlacePage first = ask(places);
  EXPECT_THAT(first.places, SizeIs(1));
  places.after = first.next;
  EXPECT_THAT(ask(places).places, SizeIs(1));
  write({put("a", "changed"), put("c", "changed", 2)});
  const FollowPage early = ask(FollowRequest{.move = kOut, .after = begun.up_to});
  EXPECT_THAT(ask(FollowRequest{.move = kOut, .after = early.up_to}).records, IsEmpty());
  ask(owner(PartitionId{1}, kEpoch + 1, false));
  const FollowPage page = ask(FollowRequest{.move = kOut, .after = begun.up_to});
  EXPECT_FALSE(page.owned);
  EXPECT_EQ(page.up_to, page.last);
  const auto* changed = std::get_if<index::EntityRecord>(&page.records.at(0));
  ASSERT_NE(changed, nullptr);
  EXPECT_EQ(changed->entity.text, "changed");
  EXPECT_THAT(ask(FollowRequest{.move = kOut, .after = page.up_to}).records, IsEmpty());
  reached().restart();
  // The rest of the log is kept until the end, whatever has arrived behind the fence.
  EXPECT_EQ(ask(FollowRequest{.move = kOut}).up_to, early.up_to);
}

TEST_P(ShardClientContract, ADigestThatIsKeptIsThatOfThePartition) {
  assign();
  const auto expect_same = [&] {
    const DigestReply kept = ask(DigestRequest{.partition = kOut.partition, .kept = true});
    const DigestReply whole = ask(DigestRequest{.partition = kOut.partition});
    EXPECT_EQ(kept.digest, whole.digest);
    EXPECT_EQ(kept.places, whole.places);
    EXPECT_EQ(kept.lsn, whole.lsn);
    return kept;
  };
  write({put("a", "x"), put("b", "y"), link("a", "b")});
  ask(ClaimRequest{.claims = {{id("a"), kOut.partition, kOut.partition}}});
  const DigestReply before = expect_same();
  write({put("a", "changed"), put("c", "z", 2)});
  ask(ClaimRequest{.claims = {{id("a"), kOut.partition, PartitionId{2}},
                              {id("b"), kOut.partition, PartitionId{2}},
                              {id("c"), PartitionId{2}, PartitionId{2}}}});
  const DigestReply after = expect_same();
  EXPECT_NE(after.digest, before.digest);
  EXPECT_NE(after.places, before.places);
  reached().restart();
  expect_same();
  ask(FollowRequest{.move = kOut});
  ask(owner(kOut.partition, kEpoch + 1, false));
  // Tombstones go without a change in the log.
  while (ask(EndMoveRequest{.move = kOut, .limit = 1}).more) {
  }
  EXPECT_EQ(expect_same().digest, index::PartitionDigest{});
}

TEST_P(ShardClientContract, ATargetKeepsTheDigestOfEntriesThatComeTwice) {
  assign();
  ask(ReceiveRequest{.move = kIn});
  const auto take = [&](const std::string& key, PartitionId partition) {
    ask(TakeRequest{.move = kIn, .places = {{.id = id(key), .partition = partition}}});
    EXPECT_EQ(ask(DigestRequest{.partition = kIn.partition, .kept = true}).places,
              ask(DigestRequest{.partition = kIn.partition}).places);
  };
  take("a", PartitionId{3});
  take("a", PartitionId{3});
  take("b", PartitionId{2});
  take("b", PartitionId{3});
}

TEST_P(ShardClientContract, EntriesThatWereAddedSinceAMarkAreSentAlone) {
  assign();
  const auto claim = [&](const std::string& key) {
    ask(ClaimRequest{.claims = {{id(key), kOut.partition, kOut.partition}}});
  };
  claim("a");
  PlacesRequest request{.move = kOut, .limit = 2, .since = PlacesMark{}};
  const PlacePage all = ask(request);
  EXPECT_THAT(all.places, SizeIs(1));
  EXPECT_FALSE(all.is_rest);
  ASSERT_TRUE(all.mark);
  request.since = all.mark;
  const PlacePage none = ask(request);
  EXPECT_TRUE(none.is_rest);
  EXPECT_THAT(none.places, IsEmpty());
  for (const std::string key : {"a", "b", "c", "d"}) claim(key);
  std::vector<Placed> rest;
  for (;;) {
    const PlacePage page = ask(request);
    ASSERT_TRUE(page.is_rest);
    rest.insert(rest.end(), page.places.begin(), page.places.end());
    request.since = page.mark;
    if (!page.next) break;
  }
  EXPECT_THAT(rest, ElementsAre(Placed{id("b"), kOut.partition}, Placed{id("c"), kOut.partition},
                                Placed{id("d"), kOut.partition}));
  // A process that was started again does not know what was added.
  reached().restart();
  const PlacePage again = ask(request);
  EXPECT_FALSE(again.is_rest);
  EXPECT_THAT(again.places, SizeIs(2));
  EXPECT_NE(again.mark, request.since);
}

TEST_P(ShardClientContract, OnlyAPartitionThatTheShardDoesNotOwnIsRemoved) {
  assign();
  write({put("a", "x"), put("b", "y"), put("c", "z", 2)});
  ask(FollowRequest{.move = kOut});
  EXPECT_EQ(failure(EndMoveRequest{.move = kOut}), Code::kFailedPrecondition);
  EXPECT_EQ(failure(ReceiveRequest{.move = {.id = 9, .partition = PartitionId{1}}}),
            Code::kFailedPrecondition);
  ask(owner(PartitionId{1}, kEpoch + 1, false));
  EXPECT_TRUE(ask(EndMoveRequest{.move = kOut, .limit = 1}).more);
  while (ask(EndMoveRequest{.move = kOut, .limit = 1}).more) {
  }
  EXPECT_EQ(ask(StatsRequest{}).stats.counters.entities, 1U);
  EXPECT_THAT(ask(StatsRequest{}).stats.followers, IsEmpty());
  EXPECT_THAT(ask(CheckRequest{}).report.faults, IsEmpty());
  EXPECT_FALSE(ask(EndMoveRequest{.move = kOut}).more);  // again
  EXPECT_EQ(failure(FollowRequest{.move = kOut}), Code::kFailedPrecondition);
}

TEST_P(ShardClientContract, AnUndoneMoveLeavesTheSourceAsItIs) {
  assign();
  write({put("a", "x")});
  ask(FollowRequest{.move = kOut});
  ask(EndMoveRequest{.move = kOut, .keep = true});
  EXPECT_THAT(ask(StatsRequest{}).stats.followers, IsEmpty());
  EXPECT_TRUE(get("a").has_value());
  reached().restart();
  EXPECT_EQ(failure(FollowRequest{.move = kOut}), Code::kFailedPrecondition);
}

}  // namespace kin::router
