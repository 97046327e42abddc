#include "index/truth/truth.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/file.h"
#include "index/testing/truth_fixture.h"

namespace kin::index {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class TruthTest : public TruthFixture {};

TEST_F(TruthTest, GivesBackAWholeEntity) {
  Entity entity = made("a");
  entity.tags = {"Physics"};
  entity.attributes = {{"pages", std::int64_t{12}},
                       {"journal", std::string("Nature")},
                       {"score", 0.5},
                       {"open", true}};
  entity.vectors = {{"words", {1, 2, 3}}, {"model", {-1, 0.5F}}};
  entity.valid = {.from = 10, .until = 20};
  entity.summaries = {"short", "shorter"};
  do_all({PutEntity{.entity = entity, .partition = PartitionId{7}}});
  reopen();
  const auto found = get(entity.id);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->entity, entity);
  EXPECT_EQ(found->head.partition, PartitionId{7});
  EXPECT_EQ(found->head.number, DocNumber{0});
  EXPECT_EQ(found->head.version, (Version{.epoch = 0, .lsn = 1}));
  EXPECT_FALSE(get(id("b")));
}

TEST_F(TruthTest, HashtagsOfTheTextJoinTheTags) {
  Entity entity = made("a");
  entity.tags = {"physics"};
  entity.text = "About #Physics and #quantum_dots, not #1";
  do_all({PutEntity{.entity = entity}});
  EXPECT_THAT(get(entity.id)->entity.tags, ElementsAre("physics", "quantum_dots"));
}

TEST_F(TruthTest, AnEntityThatIsWrittenAgainGetsANewNumberAndLosesItsOldVectors) {
  Entity entity = made("a");
  entity.vectors = {{"words", {1}}, {"model", {2}}};
  do_all({PutEntity{.entity = entity}});
  entity.vectors = {{"words", {3}}};
  entity.text = "new";
  const Applied applied = do_all({PutEntity{.entity = entity}});
  EXPECT_EQ(applied.outcomes[0].number, DocNumber{1});
  EXPECT_EQ(get(entity.id)->entity, entity);
  const std::vector<DocNumber> numbers{DocNumber{0}, DocNumber{1}, DocNumber{2}};
  EXPECT_EQ((*view().vectors(numbers, "model"))[0], std::nullopt);
  EXPECT_THAT(*(*view().vectors(numbers, "words"))[1], ElementsAre(3));
  const auto rows = *view().document_rows(numbers);
  EXPECT_FALSE(rows[0]);
  ASSERT_TRUE(rows[1]);
  EXPECT_EQ(rows[1]->key, entity.id.view());
  EXPECT_FALSE(rows[2]);
  EXPECT_EQ(view().counters().entities, 1U);
}

TEST_F(TruthTest, ARecordIsWrittenOverAnOlderVersionOnly) {
  Entity entity = made("a");
  const auto put = [&](std::string text, Version version) {
    entity.text = std::move(text);
    return do_records({EntityRecord{.entity = entity, .version = version, .assigned = version}})
        .outcomes[0]
        .effect;
  };
  EXPECT_EQ(put("two", {.epoch = 2, .lsn = 5}), Effect::kDone);
  EXPECT_EQ(put("again", {.epoch = 2, .lsn = 5}), Effect::kStale);
  EXPECT_EQ(put("older", {.epoch = 1, .lsn = 99}), Effect::kStale);
  EXPECT_EQ(get(entity.id)->entity.text, "two");
  EXPECT_EQ(put("newer", {.epoch = 2, .lsn = 6}), Effect::kDone);
  EXPECT_EQ(get(entity.id)->entity.text, "newer");
  EXPECT_EQ(truth().last_lsn(), 2U);
}

TEST_F(TruthTest, ARecordDoesNotBringBackWhatWasDeletedLater) {
  const Entity entity = made("a");
  const Version before{.epoch = 1, .lsn = 1};
  const Version deleted{.epoch = 1, .lsn = 2};
  const Version after{.epoch = 1, .lsn = 3};
  const auto effect = [&](const Record& record) { return do_records({record}).outcomes[0].effect; };
  const EntityRecord tombstone{
      .entity = {.id = entity.id}, .deleted = true, .version = deleted, .assigned = before};
  // The deletion may arrive first.
  EXPECT_EQ(effect(tombstone), Effect::kDone);
  EXPECT_EQ(effect(EntityRecord{.entity = entity, .version = before, .assigned = before}),
            Effect::kStale);
  EXPECT_FALSE(get(entity.id));
  EXPECT_EQ(effect(EntityRecord{.entity = entity, .version = after, .assigned = before}),
            Effect::kDone);
  EXPECT_TRUE(get(entity.id));
  EXPECT_EQ(effect(tombstone), Effect::kStale);
}

TEST_F(TruthTest, AMutationOverANewerRecordGetsANewerVersion) {
  const Version other{.epoch = 7, .lsn = 1'000};
  do_records({EntityRecord{.entity = made("a"), .version = other, .assigned = other}});
  const Outcome outcome = do_all({PutEntity{.entity = made("a")}}).outcomes[0];
  EXPECT_EQ(outcome.effect, Effect::kDone);
  EXPECT_GT(outcome.version, other);
}

TEST_F(TruthTest, APartitionHasAVersionOfItsOwn) {
  const Version first{.epoch = 1, .lsn = 1};
  const Version moved{.epoch = 1, .lsn = 2};
  const Version changed{.epoch = 1, .lsn = 3};
  EntityRecord record{.entity = made("a"), .version = changed, .assigned = first};
  do_records({record});
  // Older contents, newer partition.
  record.version = first;
  record.entity.text = "old";
  record.partition = PartitionId{4};
  record.assigned = moved;
  EXPECT_EQ(do_records({record}).outcomes[0].effect, Effect::kDone);
  EXPECT_EQ(get(id("a"))->entity, made("a"));
  EXPECT_EQ(get(id("a"))->head.partition, PartitionId{4});
  EXPECT_EQ(get(id("a"))->head.assigned, moved);
  reopen();
  EXPECT_EQ(get(id("a"))->head.assigned, moved);
}

TEST_F(TruthTest, WritesOnlyThePartitionsThatItOwns) {
  const auto put = [&](const std::string& key, std::uint32_t partition,
                       std::optional<std::uint64_t> map_epoch = {}) {
    const std::vector<Mutation> mutations{
        PutEntity{.entity = made(key), .partition = PartitionId{partition}}};
    return truth().apply(mutations, {.sync = false, .map_epoch = map_epoch})->outcomes[0];
  };
  const auto assign = [&](std::uint32_t partition, std::uint64_t epoch, bool owned) {
    return do_all(
               {AssignOwner{.partition = PartitionId{partition}, .epoch = epoch, .owned = owned}})
        .outcomes[0]
        .effect;
  };
  EXPECT_EQ(put("a", 3).effect, Effect::kDone);
  EXPECT_EQ(assign(3, 5, true), Effect::kDone);
  EXPECT_EQ(put("b", 3).version.epoch, 5U);
  EXPECT_EQ(put("c", 4).effect, Effect::kNotOwned);
  EXPECT_EQ(put("b", 3, 4).effect, Effect::kOldEpoch);
  EXPECT_EQ(put("b", 3, 4).version.epoch, 5U);
  EXPECT_EQ(put("b", 3, 5).effect, Effect::kDone);
  EXPECT_EQ(assign(3, 5, true), Effect::kDone);  // again
  EXPECT_EQ(assign(3, 5, false), Effect::kStale);
  EXPECT_EQ(assign(3, 4, false), Effect::kStale);
  EXPECT_EQ(assign(3, 6, false), Effect::kDone);
  reopen();
  const Outcome refused = put("a", 3);
  EXPECT_EQ(refused.effect, Effect::kNotOwned);
  EXPECT_EQ(refused.version.epoch, 6U);
  // Everything that belongs to an entity of the partition is refused, and nothing else.
  const Applied applied = do_all(
      {RemoveEntity{.id = id("a")}, AssignPartition{.id = id("a"), .partition = PartitionId{3}},
       PutEdge{.edge = edge("a", "cites", "b")}, SetEdges{.from = id("a"), .name = "cites"},
       CloseEdge{.from = id("a"), .name = "cites", .to = id("b"), .at = 5},
       RemoveEdge{.edge = edge("a", "cites", "b").id},
       AddFragment{.id = id("a"), .fragment = {1, "x"}},
       AddEdgeFragment{.from = id("a"), .name = "cites", .to = id("b"), .fragment = {1, "x"}}});
  for (const Outcome& outcome : applied.outcomes) EXPECT_EQ(outcome.effect, Effect::kNotOwned);
  EXPECT_EQ(assign(0, 1, true), Effect::kDone);
  EXPECT_EQ(do_all({PutEdge{.edge = edge("z", "cites", "b")}}).outcomes[0].effect, Effect::kDone);
}

TEST_F(TruthTest, ARecordOfAnOwnerTellsThatThisShardIsNot) {
  do_records({OwnerRecord{.partition = PartitionId{2}, .epoch = 3}});
  EXPECT_THAT(*view().owners(),
              ElementsAre(std::pair(PartitionId{2}, Ownership{.epoch = 3, .owned = false})));
  const auto take = [&](std::uint64_t epoch) {
    return do_all({AssignOwner{.partition = PartitionId{2}, .epoch = epoch, .owned = true}})
        .outcomes[0]
        .effect;
  };
  EXPECT_EQ(take(3), Effect::kStale);
  EXPECT_EQ(take(4), Effect::kDone);
  EXPECT_EQ(do_records({OwnerRecord{.partition = PartitionId{2}, .epoch = 3}}).outcomes[0].effect,
            Effect::kStale);
  EXPECT_TRUE(view().owners()->at(PartitionId{2}).owned);
}

TEST_F(TruthTest, AVersionGrowsAlsoFromAPartitionWithAHigherEpoch) {
  do_all({AssignOwner{.partition = PartitionId{1}, .epoch = 9, .owned = true},
          AssignOwner{.partition = PartitionId{2}, .epoch = 3, .owned = true},
          PutEntity{.entity = made("a"), .partition = PartitionId{1}},
          PutEdge{.edge = edge("a", "cites", "b")},
          AssignPartition{.id = id("a"), .partition = PartitionId{2}}});
  const Version before = get(id("a"))->head.version;
  EXPECT_EQ(before.epoch, 9U);
  EXPECT_GT(do_all({PutEntity{.entity = made("a")}}).outcomes[0].version, before);
  do_all({RemoveEntity{.id = id("a")}});
  EXPECT_FALSE(*view().edge(edge("a", "cites", "b").id));
}

TEST_F(TruthTest, RemovingAnEntityTakesItsEdgesAndFragmentsAndLeavesThoseThatLeadToIt) {
  do_all(
      {PutEntity{.entity = made("a")}, PutEntity{.entity = made("b")},
       PutEdge{.edge = edge("a", "cites", "b")}, PutEdge{.edge = edge("b", "cites", "a")},
       AddFragment{.id = id("a"), .fragment = {5, "said"}},
       AddEdgeFragment{.from = id("a"), .name = "cites", .to = id("b"), .fragment = {5, "said"}}});
  do_all({RemoveEntity{.id = id("a")}});
  EXPECT_FALSE(get(id("a")));
  EXPECT_FALSE(*view().edge(edge("a", "cites", "b").id));
  EXPECT_TRUE(*view().edge(edge("b", "cites", "a").id));
  EXPECT_THAT(*view().fragments(id("a"), FragmentRange{}), IsEmpty());
  EXPECT_THAT(*view().fragments(edge("a", "cites", "b").id, FragmentRange{}), IsEmpty());
  EXPECT_EQ(view().counters().edges, 1U);
  EXPECT_EQ(view().counters().fragments, 0U);
  EXPECT_EQ(do_all({RemoveEntity{.id = id("a")}}).outcomes[0].effect, Effect::kAbsent);
}

TEST_F(TruthTest, ABatchSeesItsOwnChanges) {
  Entity entity = made("a");
  entity.summaries = {"one"};
  const Applied applied =
      do_all({PutEntity{.entity = entity}, PutEdge{.edge = edge("a", "cites", "b")},
              AddFragment{.id = id("a"), .fragment = {1, "x"}}, RemoveEntity{.id = id("a")},
              PutEntity{.entity = entity}, PutEntity{.entity = entity}});
  EXPECT_EQ(applied.outcomes[3].effect, Effect::kDone);
  EXPECT_EQ(get(id("a"))->entity, entity);
  EXPECT_FALSE(*view().edge(edge("a", "cites", "b").id));
  EXPECT_EQ(view().counters().entities, 1U);
  EXPECT_EQ(view().counters().edges, 0U);
  EXPECT_EQ(changes().size(), applied.last);
}

TEST_F(TruthTest, ABatchWithOneThatMakesNoSenseIsRefusedWhole) {
  const std::vector<Mutation> mutations{PutEntity{.entity = made("a")},
                                        PutEdge{.edge = edge("a", "", "b")}};
  const auto refused = truth().apply(mutations);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::kInvalidArgument);
  EXPECT_FALSE(get(id("a")));
  EXPECT_EQ(truth().last_lsn(), 0U);
}

TEST_F(TruthTest, RefusesWhatMakesNoSense) {
  const auto refusal = [&](const Mutation& mutation) {
    const Status checked = check(mutation);
    return checked.ok() ? std::string("nothing") : checked.error().message;
  };
  Entity entity = made("a");
  entity.key = "";
  EXPECT_THAT(refusal(PutEntity{.entity = entity}), HasSubstr("no key"));
  entity = made("a");
  entity.vectors = {{"words", {}}};
  EXPECT_THAT(refusal(PutEntity{.entity = entity}), HasSubstr("from 1 to"));
  entity.vectors = {{"words", {1.0F / 0.0F}}};
  EXPECT_THAT(refusal(PutEntity{.entity = entity}), HasSubstr("not finite"));
  entity.vectors = {{"words", {1}}, {"words", {2}}};
  EXPECT_THAT(refusal(PutEntity{.entity = entity}), HasSubstr("two vectors"));
  entity = made("a");
  entity.valid = {.from = 5, .until = 5};
  EXPECT_THAT(refusal(PutEntity{.entity = entity}), HasSubstr("end after"));
  Edge bad = edge("a", "cites", "b");
  bad.weight = 0.0 / 0.0;
  EXPECT_THAT(refusal(PutEdge{.edge = bad}), HasSubstr("not finite"));
}

TEST_F(TruthTest, ASummaryIsKeptOnceAndGoesWithItsLastUse) {
  Entity one = made("a");
  Entity two = made("b");
  one.summaries = two.summaries = {"the same"};
  Edge cites = edge("a", "cites", "b");
  cites.summary = "the same";
  do_all({PutEntity{.entity = one}, PutEntity{.entity = two}, PutEdge{.edge = cites}});
  EXPECT_EQ(count_rows(kSummariesFamily), 2U);  // the text and its count
  one.summaries.clear();
  do_all({PutEntity{.entity = one}, RemoveEdge{.edge = cites.id}});
  EXPECT_EQ(get(two.id)->entity.summaries[0], "the same");
  do_all({RemoveEntity{.id = two.id}});
  EXPECT_EQ(count_rows(kSummariesFamily), 0U);
}

TEST_F(TruthTest, AnEdgeWithASummaryIsADocument) {
  Edge cites = edge("a", "cites", "b");
  EXPECT_EQ(do_all({PutEdge{.edge = cites}}).outcomes[0].number, kNoNumber);
  cites.summary = "because";
  cites.weight = 0.25;
  EXPECT_EQ(do_all({PutEdge{.edge = cites}}).outcomes[0].number, DocNumber{0});
  const auto document = *view().document(DocNumber{0});
  ASSERT_TRUE(document);
  EXPECT_EQ(std::get<StoredEdge>(*document).edge, cites);
  do_all({CloseEdge{.from = id("a"), .name = "cites", .to = id("b"), .at = 50}});
  EXPECT_FALSE(*view().document(DocNumber{0}));
  EXPECT_EQ(std::get<StoredEdge>(**view().document(DocNumber{1})).edge.until, 50);
  EXPECT_EQ(changes().back().retired, DocNumber{0});
}

TEST_F(TruthTest, EdgesThatAreSetReplaceThoseOfTheirNameAlone) {
  do_all({PutEdge{.edge = edge("a", "links", "b")}, PutEdge{.edge = edge("a", "links", "c")},
          PutEdge{.edge = edge("a", "cites", "b")}});
  const auto set = [&](const std::vector<std::string>& ends) {
    SetEdges links{.from = id("a"), .name = "links"};
    for (const std::string& end : ends) links.edges.push_back(edge("a", "links", end));
    return do_all({links});
  };
  const Applied changed = set({"c", "d"});
  EXPECT_EQ(changed.outcomes[0].effect, Effect::kDone);
  EXPECT_EQ(changed.last - changed.first + 1, 2U);  // b goes, d comes, c stays as it was
  EXPECT_FALSE(*view().edge(edge("a", "links", "b").id));
  EXPECT_EQ((*view().edge(edge("a", "links", "c").id))->version.lsn, 2U);
  EXPECT_TRUE(*view().edge(edge("a", "links", "d").id));
  EXPECT_TRUE(*view().edge(edge("a", "cites", "b").id));
  EXPECT_EQ(set({"c", "d"}).outcomes[0].effect, Effect::kStale);
  set({});
  EXPECT_EQ(view().counters().edges, 1U);
  const SetEdges wrong{.from = id("a"), .name = "links", .edges = {edge("b", "links", "c")}};
  EXPECT_FALSE(check(wrong).ok());
}

TEST_F(TruthTest, FragmentsAreReadByTimeAndSaidOnce) {
  do_all({PutEntity{.entity = made("a")}});
  for (const Millis time : {30, -10, 20}) {
    do_all({AddFragment{.id = id("a"), .fragment = {time, "at " + std::to_string(time)}}});
  }
  EXPECT_EQ(do_all({AddFragment{.id = id("a"), .fragment = {20, "at 20"}}}).outcomes[0].effect,
            Effect::kStale);
  EXPECT_EQ(do_all({AddFragment{.id = id("b"), .fragment = {20, "x"}}}).outcomes[0].effect,
            Effect::kAbsent);
  const auto texts = [&](const FragmentRange& range) {
    std::vector<std::string> all;
    const auto found = *view().fragments(id("a"), range);
    for (const StoredFragment& stored : found) all.push_back(stored.fragment.text);
    return all;
  };
  EXPECT_THAT(texts({}), ElementsAre("at -10", "at 20", "at 30"));
  EXPECT_THAT(texts({.until = 21}), ElementsAre("at -10", "at 20"));
  EXPECT_THAT(texts({.from = 0, .until = 30}), ElementsAre("at 20"));
  EXPECT_THAT(texts({.limit = 1}), ElementsAre("at 30"));
  EXPECT_EQ(std::get<EntityFragmentRef>(**view().document(DocNumber{1})).fragment.fragment.text,
            "at 30");
}

TEST_F(TruthTest, AnEdgeThatIsRemovedTakesItsFragmentsWithItsLastPeriod) {
  Edge first = edge("a", "knows", "b");
  first.id.since = 10;
  first.until = 20;
  Edge second = first;
  second.id.since = 30;
  second.until = kForever;
  do_all(
      {PutEdge{.edge = first}, PutEdge{.edge = second},
       AddEdgeFragment{.from = id("a"), .name = "knows", .to = id("b"), .fragment = {15, "met"}}});
  do_all({RemoveEdge{.edge = first.id}});
  EXPECT_EQ(view().fragments(first.id, FragmentRange{})->size(), 1U);
  do_all({RemoveEdge{.edge = second.id}});
  EXPECT_THAT(*view().fragments(first.id, FragmentRange{}), IsEmpty());
  EXPECT_EQ(do_all({RemoveEdge{.edge = second.id}}).outcomes[0].effect, Effect::kAbsent);
}

TEST_F(TruthTest, ReadsAsOfAMoment) {
  Entity entity = made("a");
  entity.valid = {.from = 10, .until = 20};
  do_all({PutEntity{.entity = entity}});
  EXPECT_FALSE(*view().get(entity.id, {.as_of = 9}));
  EXPECT_TRUE(*view().get(entity.id, {.as_of = 10}));
  EXPECT_TRUE(*view().get(entity.id, {.as_of = 19}));
  EXPECT_FALSE(*view().get(entity.id, {.as_of = 20}));
}

TEST_F(TruthTest, ScansAPartitionPageByPage) {
  std::vector<Mutation> mutations;
  for (int i = 0; i < 25; ++i) {
    mutations.emplace_back(PutEntity{.entity = made("e" + std::to_string(i)),
                                     .partition = PartitionId{static_cast<std::uint32_t>(i % 2)}});
  }
  do_all(mutations);
  const auto count = [&](std::optional<PartitionId> partition) {
    std::set<DocId> ids;
    std::optional<DocNumber> after;
    do {
      const ScanPage page = *view().scan({.partition = partition, .after = after, .limit = 4});
      for (const auto& stored : page.entities) ids.insert(stored.entity.id);
      after = page.next;
    } while (after);
    return ids.size();
  };
  EXPECT_EQ(count(PartitionId{0}), 13U);
  EXPECT_EQ(count(PartitionId{1}), 12U);
  EXPECT_EQ(count(std::nullopt), 25U);
  do_all({AssignPartition{.id = id("e0"), .partition = PartitionId{1}}});
  EXPECT_EQ(count(PartitionId{0}), 12U);
  EXPECT_EQ(count(PartitionId{1}), 13U);
  EXPECT_EQ(changes().back().former, PartitionId{0});
  EXPECT_EQ(get(id("e0"))->head.number, DocNumber{0});
}

TEST_F(TruthTest, TheChangelogHasEveryChangeInOrderUntilItIsTrimmed) {
  do_all({PutEntity{.entity = made("a"), .partition = PartitionId{3}},
          PutEdge{.edge = edge("a", "cites", "b")}, PutEntity{.entity = made("c")}});
  do_all({RemoveEntity{.id = id("a")}});
  std::vector<Lsn> lsns;
  for (const Change& change : changes()) lsns.push_back(change.lsn);
  EXPECT_THAT(lsns, ElementsAre(1, 2, 3, 4, 5));
  EXPECT_EQ(changes()[4].kind, ChangeKind::kEntityRemoved);
  EXPECT_EQ(view().changes({.after = 1, .limit = 2})->changes.size(), 2U);
  EXPECT_EQ(view().changes({.after = 1, .limit = 2})->up_to, 3U);
  ASSERT_TRUE(truth().trim_changes(3).ok());
  EXPECT_EQ(view().changes({.after = 3})->changes.size(), 2U);
  EXPECT_EQ(view().changes({.after = 2}).error().code, Code::kFailedPrecondition);
}

TEST_F(TruthTest, AFilteredReadOfTheLogTellsHowFarItCame) {
  do_all({PutEntity{.entity = made("a"), .partition = PartitionId{3}},
          PutEdge{.edge = edge("a", "cites", "b")}, PutEntity{.entity = made("c")},
          AssignPartition{.id = id("a"), .partition = PartitionId{4}}});
  const auto read = [&](std::uint32_t partition) {
    return *view().changes({.partitions = {{PartitionId{partition}}}});
  };
  EXPECT_EQ(read(3).changes.size(), 3U);  // it is told that the entity left
  EXPECT_EQ(read(4).changes.size(), 1U);
  EXPECT_EQ(read(9).changes.size(), 0U);
  EXPECT_EQ(read(9).up_to, 4U);
}

TEST_F(TruthTest, FollowersHoldBackTheTrimmingOfTheLog) {
  for (int i = 0; i < 10; ++i) do_all({PutEntity{.entity = made("a")}});
  ASSERT_TRUE(truth().acknowledge("slow", 2).ok());
  ASSERT_TRUE(truth().acknowledge("fast", 8).ok());
  ASSERT_TRUE(truth().acknowledge("fast", 5).ok());  // came late, and is ignored
  reopen();
  EXPECT_THAT(truth().followers(), ElementsAre(std::pair("fast", 8), std::pair("slow", 2)));
  ASSERT_TRUE(truth().trim_changes(10).ok());
  EXPECT_EQ(view().counters().trimmed, 2U);
  ASSERT_TRUE(truth().acknowledge("slow", 4).ok());
  ASSERT_TRUE(truth().trim_changes(10).ok());
  EXPECT_EQ(view().counters().trimmed, 4U);
  ASSERT_TRUE(truth().drop_follower("slow").ok());
  ASSERT_TRUE(truth().drop_follower("slow").ok());
  ASSERT_TRUE(truth().trim_changes(10).ok());
  EXPECT_EQ(view().counters().trimmed, 8U);
  EXPECT_EQ(truth().acknowledge("new", 7).error().code, Code::kFailedPrecondition);
  EXPECT_EQ(truth().acknowledge("new", 11).error().code, Code::kInvalidArgument);
  EXPECT_TRUE(truth().acknowledge("new", 8).ok());
}

TEST_F(TruthTest, ARequestOfASessionIsAppliedOnce) {
  const std::uint64_t first = *truth().open_session();
  const std::uint64_t second = *truth().open_session();
  const auto request = [&](std::uint64_t session, std::uint64_t sequence, const Mutation& what) {
    return truth().apply(std::vector{what}, {.request = RequestId{session, sequence}});
  };
  const Mutation put = PutEntity{.entity = made("a")};
  const Mutation remove = RemoveEntity{.id = id("a")};
  EXPECT_EQ(request(first, 1, remove)->outcomes[0].effect, Effect::kAbsent);
  EXPECT_EQ(request(second, 5, put)->outcomes[0].effect, Effect::kDone);
  EXPECT_TRUE(request(first, 1, remove)->repeated);  // it changed nothing, and does so for good
  EXPECT_TRUE(get(id("a")).has_value());
  reopen();
  EXPECT_TRUE(request(first, 1, remove)->repeated);
  EXPECT_TRUE(request(second, 4, remove)->repeated);
  EXPECT_TRUE(get(id("a")).has_value());
  EXPECT_EQ(request(first, 2, remove)->outcomes[0].effect, Effect::kDone);
  EXPECT_EQ(request(99, 1, put).error().code, Code::kFailedPrecondition);
  EXPECT_EQ(*truth().open_session(), second + 1);
}

TEST_F(TruthTest, NumbersAndLsnsGoOnAfterEverythingWasTrimmedAndTheShardReopened) {
  do_all({PutEntity{.entity = made("a")}});
  ASSERT_TRUE(truth().trim_changes(100).ok());
  reopen();
  const Applied applied = do_all({PutEntity{.entity = made("b")}});
  EXPECT_EQ(applied.first, 2U);
  EXPECT_EQ(applied.outcomes[0].number, DocNumber{1});
}

TEST_F(TruthTest, AViewStaysAsItWas) {
  do_all({PutEntity{.entity = made("a")}});
  const TruthView before = view();
  Entity changed = made("a");
  changed.text = "changed";
  changed.vectors = {{"new space", {1}}};
  do_all({PutEntity{.entity = changed}, PutEdge{.edge = edge("a", "cites", "b")}});
  EXPECT_EQ((*before.get(id("a")))->entity, made("a"));
  EXPECT_FALSE(*before.edge(edge("a", "cites", "b").id));
  EXPECT_EQ(before.lsn(), 1U);
  EXPECT_EQ(view().lsn(), 3U);
}

TEST_F(TruthTest, PurgedDeletionsLeaveNoRow) {
  do_all({PutEntity{.entity = made("a")}, PutEdge{.edge = edge("a", "cites", "b")},
          AddFragment{.id = id("a"), .fragment = {1, "x"}}});
  do_all({RemoveEntity{.id = id("a")}});
  EXPECT_EQ(count_rows(kEntitiesFamily), 1U);
  EXPECT_EQ(count_rows(kEntityFragmentsFamily), 1U);
  ASSERT_TRUE(truth().purge_deletions({.epoch = 0, .lsn = 3}).ok());
  EXPECT_EQ(count_rows(kEntitiesFamily), 1U);
  ASSERT_TRUE(truth().purge_deletions({.epoch = 1, .lsn = 0}).ok());
  EXPECT_EQ(count_rows(kEntitiesFamily), 0U);
  EXPECT_EQ(count_rows(kForwardEdgesFamily), 0U);
  EXPECT_EQ(count_rows(kEntityFragmentsFamily), 0U);
}

}  // namespace
}  // namespace kin::index
