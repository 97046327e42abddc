#include "router/testing/shard_client_contract.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

namespace kin::router {

using index::Effect;
using index::PartitionId;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

index::ShardOptions contract_options() {
  index::ShardOptions options;
  options.spaces = {
      {.name = "main",
       .space = {
           .dimension = 4, .distance = index::Distance::kL2, .storage = index::RawStorage::kF32}}};
  options.near_duplicates = index::NearDuplicateOptions{.threshold = 0.8};
  options.screens = false;
  return options;
}

index::Entity ShardClientContract::made(const std::string& key, const std::string& text) {
  index::Entity entity;
  entity.id = id(key);
  entity.key = key;
  entity.source = "test";
  entity.title = "Title of " + key;
  entity.text = text;
  return entity;
}

index::PutEntity ShardClientContract::put(const std::string& key, const std::string& text,
                                          std::uint32_t partition) {
  return {.entity = made(key, text), .partition = PartitionId{partition}};
}

index::PutEdge ShardClientContract::link(std::string_view from, std::string_view to) {
  index::PutEdge put;
  put.edge.id = {.from = id(from), .name = "cites", .to = id(to)};
  return put;
}

CallOptions ShardClientContract::options(std::uint64_t epoch) {
  return {.map_epoch = epoch, .deadline = reached_->clock().steady_now() + std::chrono::minutes{1}};
}

void ShardClientContract::assign() {
  ask(AssignRequest{.owners = {{.partition = PartitionId{1}, .epoch = kEpoch, .owned = true},
                               {.partition = PartitionId{2}, .epoch = kEpoch, .owned = true},
                               {.partition = PartitionId{3}, .epoch = kEpoch, .owned = false}}});
}

std::uint64_t ShardClientContract::open_session() {
  return ask(OpenSession{}).session;
}

WriteRequest ShardClientContract::request(std::uint64_t sequence,
                                          std::vector<index::Mutation> mutations) {
  if (session_ == 0) session_ = open_session();
  return {.id = {.session = session_, .sequence = sequence},
          .mutations = std::move(mutations),
          .partitions = {PartitionId{1}, PartitionId{2}}};
}

WriteReply ShardClientContract::write(std::vector<index::Mutation> mutations) {
  return ask(request(++sequence_, std::move(mutations)));
}

std::optional<index::StoredEntity> ShardClientContract::get(std::string_view key) {
  const GetRequest asked{.ids = {id(key)}, .partitions = {PartitionId{1}, PartitionId{2}}};
  return ask(asked).entities.at(0);
}

index::ShardQuery ShardClientContract::words(const std::string& text) {
  index::ShardQuery query{.text = index::TextLeg{.query = text}};
  query.scope.partitions = Partitions{PartitionId{1}, PartitionId{2}};
  return query;
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ShardClientContract);

TEST_P(ShardClientContract, AShardThatWasNotToldWhatItOwnsRefuses) {
  EXPECT_EQ(refusal(request(1, {put("a", "tide")})), Refused{.epoch = 0});
  EXPECT_EQ(refusal(GetRequest{.ids = {id("a")}, .partitions = {PartitionId{1}}}),
            Refused{.epoch = 0});
  assign();
  EXPECT_EQ(refusal(request(1, {put("a", "tide")})), std::nullopt);
}

TEST_P(ShardClientContract, AMapOlderThanTheOwnerIsRefusedWithTheNewerEpoch) {
  assign();
  const Partitions mine{PartitionId{1}};
  EXPECT_EQ(refusal(GetRequest{.partitions = mine}, 4), Refused{.epoch = 5});
  EXPECT_EQ(refusal(HeadsRequest{.partitions = mine}, 4), Refused{.epoch = 5});
  EXPECT_EQ(refusal(EdgesRequest{.partitions = mine}, 4), Refused{.epoch = 5});
  EXPECT_EQ(refusal(FindRequest{.query = words("tide")}, 4), Refused{.epoch = 5});
  EXPECT_EQ(refusal(StatisticsRequest{.query = words("tide")}, 4), Refused{.epoch = 5});
  EXPECT_EQ(refusal(SumRequest{.query = words("tide")}, 4), Refused{.epoch = 5});
  EXPECT_EQ(refusal(PresentRequest{.partitions = mine}, 4), Refused{.epoch = 5});
  EXPECT_EQ(refusal(ListRequest{.partition = PartitionId{1}}, 4), Refused{.epoch = 5});
  EXPECT_EQ(refusal(LocateRequest{.entities = {{.id = id("a"), .home = PartitionId{1}}}}, 4),
            Refused{.epoch = 5});
  EXPECT_EQ(refusal(ClaimRequest{.claims = {{.id = id("a"), .home = PartitionId{1}}}}, 4),
            Refused{.epoch = 5});
  EXPECT_EQ(refusal(request(1, {put("a", "tide")}), 4), Refused{.epoch = 5});
  EXPECT_EQ(refusal(GetRequest{.partitions = mine}, 6), std::nullopt);
  EXPECT_FALSE(get("a").has_value());
}

TEST_P(ShardClientContract, APartitionOfAnotherShardIsRefused) {
  assign();
  EXPECT_EQ(refusal(GetRequest{.partitions = {PartitionId{3}}}), Refused{.epoch = 5});
  EXPECT_EQ(refusal(GetRequest{.partitions = {PartitionId{9}}}), Refused{.epoch = 0});
  WriteRequest elsewhere = request(1, {put("a", "tide"), put("b", "tide", 3)});
  elsewhere.partitions = {PartitionId{1}, PartitionId{3}};
  EXPECT_EQ(refusal(elsewhere), Refused{.epoch = 5});
  EXPECT_FALSE(get("a").has_value());  // all of a write is refused or none
}

TEST_P(ShardClientContract, OwnershipSurvivesARestartAndOldEpochsAreIgnored) {
  assign();
  reached().restart();
  ask(AssignRequest{.owners = {{.partition = PartitionId{1}, .epoch = 4, .owned = false}}});
  EXPECT_EQ(refusal(GetRequest{.partitions = {PartitionId{1}}}), std::nullopt);
  const Health health = ask(HealthRequest{});
  EXPECT_EQ(health.epoch, 5U);
  EXPECT_EQ(health.partitions, 2U);
}

TEST_P(ShardClientContract, WhatIsWrittenIsThereAtOnceAndAfterARestart) {
  assign();
  const WriteReply reply =
      write({put("a", "tide"), put("b", "sand", 2), index::RemoveEntity{.id = id("c")}});
  ASSERT_THAT(reply.outcomes, SizeIs(3));
  EXPECT_EQ(reply.outcomes[0].effect, Effect::kDone);
  EXPECT_EQ(reply.outcomes[2].effect, Effect::kAbsent);
  EXPECT_EQ(get("a")->entity.text, "tide");
  EXPECT_EQ(get("b")->head.partition, PartitionId{2});
  reached().restart();
  EXPECT_EQ(get("a")->entity.text, "tide");
  EXPECT_EQ(get("a")->head.version.epoch, kEpoch);
}

TEST_P(ShardClientContract, ARequestThatArrivesAgainChangesNothing) {
  assign();
  const WriteRequest first = request(1, {put("a", "first")});
  const WriteReply reply = ask(first);
  const WriteReply again = ask(first);
  EXPECT_FALSE(again.forgotten);
  ASSERT_THAT(again.outcomes, SizeIs(1));
  EXPECT_EQ(again.outcomes[0].version, reply.outcomes[0].version);
  ask(request(2, {put("a", "second")}));
  ask(first);  // a late copy
  EXPECT_EQ(get("a")->entity.text, "second");
  reached().restart();
  EXPECT_TRUE(ask(first).forgotten);
  EXPECT_TRUE(ask(request(2, {put("a", "second")})).forgotten);
  EXPECT_EQ(get("a")->entity.text, "second");
  ask(request(3, {index::RemoveEntity{.id = id("a")}}));
  ask(first);
  EXPECT_FALSE(get("a").has_value());
}

TEST_P(ShardClientContract, AWriteOfASessionThatIsNotOpenIsRefused) {
  assign();
  WriteRequest stray = request(1, {put("a", "tide")});
  stray.id.session = 77;
  EXPECT_EQ(failure(stray), Code::kFailedPrecondition);
}

TEST_P(ShardClientContract, AWriteThatMakesNoSenseIsRefused) {
  assign();
  EXPECT_EQ(failure(request(1, {index::PutEntity{.entity = made("a", "tide")}})),
            Code::kInvalidArgument);
  EXPECT_EQ(failure(request(2, {index::AssignOwner{.partition = PartitionId{3}}})),
            Code::kInvalidArgument);
  EXPECT_EQ(failure(request(3, {index::PutEntity{.entity = {}, .partition = PartitionId{1}}})),
            Code::kInvalidArgument);
}

TEST_P(ShardClientContract, TheFirstClaimOfAnEntityHoldsForGood) {
  assign();
  const PartitionId home{1};
  const Claim claim{.id = id("a"), .home = home, .partition = PartitionId{2}};
  Claim other = claim;
  other.partition = PartitionId{3};
  EXPECT_THAT(ask(LocateRequest{.entities = {{.id = id("a"), .home = home}}}).partitions,
              ElementsAre(std::nullopt));
  EXPECT_THAT(ask(ClaimRequest{.claims = {claim, other}}).partitions,
              ElementsAre(PartitionId{2}, PartitionId{2}));
  reached().restart();
  EXPECT_THAT(ask(ClaimRequest{.claims = {other}}).partitions, ElementsAre(PartitionId{2}));
  EXPECT_THAT(
      ask(LocateRequest{.entities = {{.id = id("a"), .home = home}, {.id = id("b"), .home = home}}})
          .partitions,
      ElementsAre(PartitionId{2}, std::nullopt));
}

TEST_P(ShardClientContract, LegsFindByTheStatisticsThatTheyAreGiven) {
  assign();
  write({put("a", "tide and sand"), put("b", "tide"), put("c", "stone", 2)});
  const index::ShardQuery query = words("tide");
  index::TextStatistics statistics = ask(StatisticsRequest{.query = query}).text;
  EXPECT_EQ(statistics.documents, 3U);
  const auto own = ask(FindRequest{.query = query});
  // As if other shards had many documents without the word.
  statistics.documents *= 1'000;
  statistics.total_length *= 1'000;
  const auto global = ask(FindRequest{.query = query, .statistics = statistics});
  ASSERT_THAT(own.found.candidates, SizeIs(2));
  ASSERT_THAT(global.found.legs.at(0).hits, SizeIs(2));
  EXPECT_GT(global.found.legs[0].hits[0].score, own.found.legs.at(0).hits.at(0).score);
}

TEST_P(ShardClientContract, OnlyPartitionsThatAreAskedForAreSearched) {
  assign();
  write({put("a", "tide"), put("b", "tide", 2)});
  index::ShardQuery query = words("tide");
  query.count = true;
  query.facets = {"source"};
  query.scope.partitions = Partitions{PartitionId{2}};
  const FindReply reply = ask(FindRequest{.query = query});
  ASSERT_THAT(reply.found.candidates, SizeIs(1));
  EXPECT_EQ(reply.found.candidates[0].id, id("b"));
  EXPECT_EQ(reply.found.count, 1U);
  EXPECT_EQ(reply.found.facets.at(0).values.at(0).count, 1U);
}

TEST_P(ShardClientContract, EntitiesThatWordsDoNotMatchAreSummedApart) {
  assign();
  write({put("a", "tide"), put("b", "sand"), put("c", "stone")});
  index::ShardQuery query = words("tide");
  query.count = true;
  query.facets = {"source", "validity"};
  const Sums sums = ask(SumRequest{.query = query, .joined = {id("a"), id("b"), id("missing")}});
  EXPECT_EQ(sums.count, 1U);
  ASSERT_THAT(sums.facets, SizeIs(2));
  EXPECT_EQ(sums.facets[0].values.at(0).count, 1U);
}

TEST_P(ShardClientContract, FoundDocumentsAreShownWithTheirWordsMarked) {
  assign();
  write({put("a", "the tide came in")});
  const auto found = ask(FindRequest{.query = words("tide")}).found;
  const Presented shown = ask(PresentRequest{.documents = found.candidates,
                                             .partitions = {PartitionId{1}},
                                             .text = index::TextLeg{.query = "tide"}});
  ASSERT_THAT(shown.documents, SizeIs(1));
  EXPECT_EQ(std::get<index::StoredEntity>(*shown.documents[0]).entity.key, "a");
  ASSERT_THAT(shown.snippets.at(0), SizeIs(2));  // title and text
  EXPECT_THAT(shown.snippets[0][1].marks, SizeIs(1));
}

TEST_P(ShardClientContract, ScoresAreExplainedIfThatIsAskedFor) {
  assign();
  write({put("a", "the tide came in"), put("b", "sand"), put("c", "tide tide", 2)});
  const index::TextLeg tide{.query = "tide"};
  const FindReply plain =
      ask(FindRequest{.query = words("tide"), .show = Show{.text = tide, .most = 5}});
  EXPECT_THAT(plain.presented.documents, SizeIs(2));
  EXPECT_THAT(plain.presented.explanations, IsEmpty());
  FindRequest asked{.query = words("tide"), .show = Show{.text = tide, .most = 5, .explain = true}};
  const FindReply found = ask(asked);
  ASSERT_THAT(found.presented.explanations, SizeIs(2));
  ASSERT_TRUE(found.presented.explanations[0].has_value());
  ASSERT_THAT(found.presented.explanations[0]->terms, SizeIs(1));
  EXPECT_EQ(found.presented.explanations[0]->terms[0].documents, 2U);
  // As if other shards had many documents with the word.
  index::TextStatistics all = ask(StatisticsRequest{.query = words("tide")}).text;
  index::TextStatistics more = all;
  more.documents *= 10;
  for (auto& [term, documents] : more.frequencies) documents *= 10;
  all.add(more);
  const PresentRequest present{.documents = found.found.candidates,
                               .partitions = {PartitionId{1}, PartitionId{2}},
                               .text = tide,
                               .explain = true,
                               .statistics = all};
  const Presented shown = ask(present);
  ASSERT_THAT(shown.explanations, SizeIs(2));
  EXPECT_EQ(shown.explanations[0]->terms.at(0).documents, 22U);
}

TEST_P(ShardClientContract, ASearchAmongGivenDocumentsFindsNoOthers) {
  assign();
  write({put("a", "tide"), put("b", "tide"), put("c", "sand")});
  index::ShardQuery query = words("tide");
  query.scope.among = {{.id = id("b")}, {.id = id("c")}, {.id = id("missing")}};
  const auto found = ask(FindRequest{.query = query}).found;
  ASSERT_THAT(found.candidates, SizeIs(1));
  EXPECT_EQ(found.candidates[0].id, id("b"));
  query.scope.among.emplace();
  EXPECT_THAT(ask(FindRequest{.query = query}).found.candidates, IsEmpty());
}

TEST_P(ShardClientContract, EdgesAreReadFromBothEndsAndNeedAnEntityToLeave) {
  assign();
  const WriteReply reply = write({put("a", "x"), link("a", "b"), link("a", "elsewhere"),
                                  link("nobody", "a"), put("b", "y", 2), link("b", "a")});
  EXPECT_EQ(reply.outcomes.at(1).effect, Effect::kDone);
  EXPECT_EQ(reply.outcomes.at(3).effect, Effect::kAbsent);
  EdgesRequest asked{.nodes = {id("a"), id("elsewhere"), id("nobody")},
                     .partitions = {PartitionId{1}, PartitionId{2}}};
  EXPECT_THAT(ask(asked).edges, ElementsAre(SizeIs(2), IsEmpty(), IsEmpty()));
  asked.direction = index::Direction::kIn;
  EXPECT_THAT(ask(asked).edges, ElementsAre(SizeIs(1), SizeIs(1), IsEmpty()));
  asked.partitions = {PartitionId{2}};  // only edges that begin there
  EXPECT_THAT(ask(asked).edges, ElementsAre(SizeIs(1), IsEmpty(), IsEmpty()));
  const Heads heads =
      ask(HeadsRequest{.ids = {id("a"), id("b"), id("nobody")}, .partitions = {PartitionId{1}}});
  EXPECT_TRUE(heads.heads.at(0).has_value());
  EXPECT_FALSE(heads.heads.at(1).has_value());  // of another partition than was asked for
}

TEST_P(ShardClientContract, APartitionIsListedAPageAtATime) {
  assign();
  write({put("a", "x"), put("b", "x", 2), put("c", "x"), put("d", "x")});
  std::vector<std::string> keys;
  ListRequest asked{.partition = PartitionId{1}, .limit = 2};
  do {
    const index::ScanPage page = ask(asked);
    for (const auto& entity : page.entities) keys.push_back(entity.entity.key);
    asked.after = page.next;
  } while (asked.after);
  EXPECT_THAT(keys, ElementsAre("a", "c", "d"));
}

TEST_P(ShardClientContract, TheLogAndTheDigestsTellCopiesApart) {
  assign();
  write({put("a", "x"), put("b", "x", 2)});
  const index::LogPage page = ask(ReadLogRequest{.log = {.partitions = {{PartitionId{1}}}}});
  const auto is_a = [&](const index::Record& record) {
    const auto* entity = std::get_if<index::EntityRecord>(&record);
    return entity != nullptr && entity->entity.id == id("a");
  };
  EXPECT_EQ(std::ranges::count_if(page.records, is_a), 1);
  const DigestReply before = ask(DigestRequest{.partition = PartitionId{1}});
  write({put("b", "y", 2)});
  EXPECT_EQ(ask(DigestRequest{.partition = PartitionId{1}}).digest, before.digest);
  write({put("a", "y")});
  const DigestReply after = ask(DigestRequest{.partition = PartitionId{1}});
  EXPECT_NE(after.digest, before.digest);
  EXPECT_GT(after.lsn, before.lsn);
  EXPECT_EQ(ask(StatsRequest{}).stats.counters.entities, 2U);
}

TEST_P(ShardClientContract, AFollowerReadsTheLogFromWhereItIs) {
  assign();
  write({put("a", "x"), put("b", "x"), put("c", "x"), link("a", "b")});
  std::set<std::string> keys;
  std::size_t edges = 0;
  const auto follow = [&](Lsn after) {
    for (;;) {
      const index::LogPage page = ask(ReadLogRequest{.log = {.after = after, .limit = 2}});
      for (const index::Record& record : page.records) {
        if (const auto* entity = std::get_if<index::EntityRecord>(&record))
          keys.insert(entity->entity.key + (entity->deleted ? "-" : "+"));
        edges += std::holds_alternative<index::EdgeRecord>(record) ? 1 : 0;
      }
      if (page.up_to <= after) return after;
      after = page.up_to;
    }
  };
  const Lsn first = follow(0);
  EXPECT_EQ(first, ask(HealthRequest{}).last_lsn);
  EXPECT_EQ(keys, (std::set<std::string>{"a+", "b+", "c+"}));
  EXPECT_EQ(edges, 1U);
  keys.clear();
  EXPECT_EQ(follow(first), first);
  EXPECT_TRUE(keys.empty());
  reached().restart();
  write({put("d", "x", 2)});
  EXPECT_GT(follow(first), first);
  EXPECT_EQ(keys, (std::set<std::string>{"d+"}));
}

TEST_P(ShardClientContract, NearTextsOfThePartitionsAskedForAreTold) {
  assign();
  const std::string text = "the tide comes in at noon and goes out again when the moon has set";
  write({put("first", text, 1), put("second", text + " late", 2), put("other", "a dry summer", 1)});
  const auto sketcher = *index::TextSketcher::create(0.8);
  const NearRequest request{.sketches = {sketcher.sketch(made("new", text)),
                                         sketcher.sketch(made("newer", "rain in spring"))},
                            .partitions = {index::PartitionId{1}, index::PartitionId{2}}};
  NearTexts near = ask(request);
  ASSERT_EQ(near.texts.size(), 2U);
  ASSERT_EQ(near.texts[0].size(), 2U);
  EXPECT_EQ(near.texts[0][0].id, id("first"));
  EXPECT_EQ(near.texts[0][0].similarity, 1);
  EXPECT_EQ(near.texts[0][1].id, id("second"));
  EXPECT_LT(near.texts[0][0].age, near.texts[0][1].age);
  EXPECT_TRUE(near.texts[1].empty());
  reached().restart();
  EXPECT_EQ(ask(request).texts, near.texts);
  NearRequest part = request;
  part.partitions = {index::PartitionId{2}};
  near = ask(part);
  ASSERT_EQ(near.texts[0].size(), 1U);
  EXPECT_EQ(near.texts[0][0].id, id("second"));
  part.partitions = {index::PartitionId{3}};
  EXPECT_TRUE(refusal(part).has_value());
}

TEST_P(ShardClientContract, BlobsAreKeptUnderTheirHash) {
  const std::string bytes = "centroids";
  ask(StoreBlobRequest{.hash = hash128(bytes), .bytes = bytes});
  reached().restart();
  EXPECT_EQ(ask(ReadBlobRequest{.hash = hash128(bytes)}).bytes, bytes);
  EXPECT_EQ(ask(ReadBlobRequest{.hash = hash128("other")}).bytes, std::nullopt);
  EXPECT_EQ(failure(StoreBlobRequest{.hash = hash128("other"), .bytes = bytes}),
            Code::kInvalidArgument);
}

TEST_P(ShardClientContract, ARequestWhoseTimeIsOverIsNotServed) {
  assign();
  CallOptions late = options();
  late.deadline = reached().clock().steady_now();
  const auto reply = call(client(), request(1, {put("a", "tide")}), late);
  ASSERT_FALSE(reply.ok());
  EXPECT_EQ(reply.error().code, Code::kUnavailable);
  EXPECT_FALSE(get("a").has_value());
}

TEST_P(ShardClientContract, CallsAreUnderWayTogether) {
  assign();
  write({put("a", "tide")});
  auto first = start(client(), HealthRequest{}, options());
  auto second = start(client(), StatisticsRequest{.query = words("tide")}, options());
  EXPECT_TRUE(second.wait().ok());
  EXPECT_TRUE(first.wait().ok());
  start(client(), HealthRequest{}, options());  // nobody waits
}

TEST_P(ShardClientContract, AShardDoesNothingForACallerWhoMeansAnotherOne) {
  assign();
  const Hash128 own = ask(HealthRequest{}).shard;
  EXPECT_NE(own, Hash128{});
  CallOptions meant = options();
  meant.shard = own;
  EXPECT_TRUE(call(client(), HealthRequest{}, meant).ok());
  reached().restart();
  meant = options();
  meant.shard = own;  // which a restart does not change
  EXPECT_TRUE(call(client(), HealthRequest{}, meant).ok());
  meant.shard = {.low = own.low + 1, .high = own.high};
  const WriteRequest asked = request(1, {put("a", "tide")});
  const auto refused = call(client(), asked, meant);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::kFailedPrecondition);
  // Nor is it told what it owns.
  const AssignRequest told{
      .owners = {{.partition = PartitionId{3}, .epoch = kEpoch + 1, .owned = true}}};
  EXPECT_FALSE(call(client(), told, meant).ok());
  EXPECT_FALSE(get("a"));
  EXPECT_EQ(ask(HealthRequest{}).epoch, kEpoch);
}

}  // namespace kin::router
