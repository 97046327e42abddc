// The contract of every engine, on every disk.
#include "kv/key_value_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <thread>

#include "base/random.h"
#include "kv/testing/store_fixture.h"

namespace kin::kv {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class KeyValueStoreTest : public StoreFixture {};

INSTANTIATE_TEST_SUITE_P(Engines, KeyValueStoreTest, testing::ValuesIn(kEveryKind), name_of);

TEST_P(KeyValueStoreTest, GivesBackWhatWasPutAndNothingForWhatWasNot) {
  const auto store = open();
  put(*store, "a", "one");
  put(*store, "", "the empty key");
  put(*store, std::string_view("\0b", 2), "");
  EXPECT_EQ(*store->get("a"), "one");
  EXPECT_EQ(*store->get(""), "the empty key");
  EXPECT_EQ(*store->get(std::string_view("\0b", 2)), "");
  EXPECT_EQ(*store->get("b"), std::nullopt);
}

TEST_P(KeyValueStoreTest, OfTwoChangesInABatchTheLaterHolds) {
  const auto store = open();
  Batch batch(*store);
  batch.put("a", "one");
  batch.put("a", "two");
  batch.put("b", "one");
  batch.remove("b");
  batch.remove("never there");
  EXPECT_EQ(batch.size(), 5U);
  EXPECT_GT(batch.bytes(), 10U);
  ASSERT_TRUE(store->write(batch).ok());
  EXPECT_EQ(*store->get("a"), "two");
  EXPECT_EQ(*store->get("b"), std::nullopt);
  batch.clear();
  EXPECT_EQ(batch.size(), 0U);
}

TEST_P(KeyValueStoreTest, AnswersForManyKeysAtOnce) {
  const auto store = open();
  put(*store, "a", "");
  put(*store, "c", "");
  ASSERT_TRUE(store->flush().ok());
  put(*store, "d", "");
  const std::vector<std::string_view> keys{"d", "b", "a", "a", "c", "e"};
  std::vector<std::uint8_t> found(keys.size(), 9);
  ASSERT_TRUE(store->contains_many(keys, found).ok());
  EXPECT_THAT(found, ElementsAre(1, 0, 1, 1, 1, 0));
}

TEST_P(KeyValueStoreTest, VisitsAPrefixInOrderAndStopsWhenTold) {
  const auto store = open();
  for (const char* key : {"doc:2", "doc:10", "doc", "dod", "doc:\xff\xff", "a"})
    put(*store, key, "v");
  EXPECT_THAT(with_prefix(*store, "doc:"), ElementsAre("doc:10=v", "doc:2=v", "doc:\xff\xff=v"));
  EXPECT_THAT(with_prefix(*store, "doc:\xff"), ElementsAre("doc:\xff\xff=v"));
  EXPECT_EQ(with_prefix(*store, "").size(), 6U);
  int visits = 0;
  const Status stopped = store->for_each("", [&](std::string_view, std::string_view) -> Status {
    ++visits;
    return Error{Code::kCancelled, "enough"};
  });
  EXPECT_EQ(stopped.error().message, "enough");
  EXPECT_EQ(visits, 1);
}

TEST_P(KeyValueStoreTest, GivesManyValuesInTheOrderOfTheirKeys) {
  const auto store = open();
  put(*store, "a", "one");
  put(*store, "c", "");
  const std::vector<std::string> keys{"c", "b", "a", "a"};
  EXPECT_THAT(*store->get_many(keys), ElementsAre("", std::nullopt, "one", "one"));
}

TEST_P(KeyValueStoreTest, ACursorStaysWithinItsRangeAndSeeksBothWays) {
  const auto store = open();
  for (const char* key : {"a", "b", "c", "d", "e"}) put(*store, key, std::string(key) + key);
  Cursor at = store->cursor({.from = "b", .to = "e"});
  ASSERT_TRUE(at.valid());
  EXPECT_EQ(at.key(), "b");
  EXPECT_EQ(at.value(), "bb");
  at.seek("d");
  EXPECT_EQ(at.key(), "d");
  at.next();
  EXPECT_FALSE(at.valid());
  at.seek("a");
  ASSERT_TRUE(at.valid());
  EXPECT_EQ(at.key(), "b");
  EXPECT_TRUE(at.status().ok());
  EXPECT_FALSE(store->cursor({.from = "f"}).valid());
}

TEST_P(KeyValueStoreTest, ASnapshotIsNotChangedByLaterBatches) {
  const auto store = open({.families = {"edges"}});
  put(*store, "a", "old");
  const Snapshot before(*store);
  Batch batch(*store);
  batch.put("a", "new");
  batch.put("b", "new");
  batch.put("a", "edge", Family{1});
  ASSERT_TRUE(store->write(batch).ok());
  EXPECT_EQ(*before.get("a"), "old");
  EXPECT_EQ(*before.get("a", Family{1}), std::nullopt);
  const std::vector<std::string> keys{"a", "b"};
  EXPECT_THAT(*before.get_many(keys), ElementsAre("old", std::nullopt));
  Cursor at = before.cursor({});
  EXPECT_EQ(at.value(), "old");
  at.next();
  EXPECT_FALSE(at.valid());
  EXPECT_EQ(*Snapshot(*store).get("b"), "new");
}

TEST_P(KeyValueStoreTest, RemovesARangeWithoutItsEnd) {
  const auto store = open();
  for (const char* key : {"a", "b", "c", "d"}) put(*store, key, "v");
  Batch batch(*store);
  batch.remove_range("b", "d");
  ASSERT_TRUE(store->write(batch).ok());
  EXPECT_THAT(with_prefix(*store, ""), ElementsAre("a=v", "d=v"));
}

TEST_P(KeyValueStoreTest, KeepsLongValuesApartAndFindsThemAgain) {
  const StoreOptions options{.families = {"texts"},
                             .tuning = {{"texts", {.apart_from_bytes = 100}}}};
  {
    const auto store = open(options);
    put(*store, "long", std::string(1'000, 'x'), Family{1});
    put(*store, "short", "x", Family{1});
    ASSERT_TRUE(store->flush().ok());
  }
  std::size_t apart = 0;
  for (const std::string& name : names()) apart += fs::path(name).extension() == ".blob" ? 1 : 0;
  EXPECT_EQ(apart, is_rocks() ? 1U : 0U);
  const auto store = open(options);
  EXPECT_EQ(*store->get("long", Family{1}), std::string(1'000, 'x'));
  EXPECT_EQ(*store->get("short", Family{1}), "x");
  ASSERT_TRUE(store->compact().ok());
  EXPECT_EQ(*store->get("long", Family{1}), std::string(1'000, 'x'));
}

TEST_P(KeyValueStoreTest, KeepsFamiliesApartAndWritesThemTogether) {
  const StoreOptions options{.families = {"edges"}};
  {
    const auto store = open(options);
    Batch batch(*store);
    batch.put("a", "entity");
    batch.put("a", "edge", Family{1});
    ASSERT_TRUE(store->write(batch).ok());
    ASSERT_TRUE(store->close().ok());
  }
  const auto store = open(options);
  EXPECT_EQ(*store->get("a"), "entity");
  EXPECT_EQ(*store->get("a", Family{1}), "edge");
}

TEST_P(KeyValueStoreTest, KeepsAFamilyThatIsNotNamedWhenItIsOpenedAgain) {
  {
    const auto store = open({.families = {"edges"}});
    put(*store, "a", "edge", Family{1});
  }
  {
    EXPECT_EQ(*open()->get("a"), std::nullopt);
  }
  EXPECT_EQ(*open({.families = {"new", "edges"}})->get("a", Family{2}), "edge");
}

TEST_P(KeyValueStoreTest, RefusesAFamilyNamedTwice) {
  const auto store = try_open({.families = {"edges", "edges"}});
  ASSERT_FALSE(store.ok());
  EXPECT_EQ(store.error().code, Code::kInvalidArgument);
}

TEST_P(KeyValueStoreTest, RemembersAfterBeingClosedAndForgetsWhenAskedTo) {
  put(*open(), "a", "one");
  {
    EXPECT_EQ(*open({.mode = StoreOptions::Mode::kOpen})->get("a"), "one");
  }
  EXPECT_EQ(*open({.mode = StoreOptions::Mode::kFresh})->get("a"), std::nullopt);
}

TEST_P(KeyValueStoreTest, KeepsABatchThatIsNotLoggedOnceItIsFlushed) {
  const auto store = open();
  put(*store, "logged", "one");
  Batch batch(*store);
  batch.put("not logged", "two");
  ASSERT_TRUE(store->write(batch, {.sync = false, .log = false}).ok());
  EXPECT_EQ(*store->get("not logged"), "two");
  EXPECT_EQ(*open_killed()->get("logged"), "one");
  if (is_rocks()) {
    EXPECT_EQ(*open_killed()->get("not logged"), std::nullopt);
  }
  ASSERT_TRUE(store->flush().ok());
  EXPECT_EQ(*open_killed()->get("not logged"), "two");
}

TEST_P(KeyValueStoreTest, SaysWhenThereIsNoStore) {
  const auto store = try_open({.mode = StoreOptions::Mode::kOpen});
  ASSERT_FALSE(store.ok());
  EXPECT_EQ(store.error().code, Code::kNotFound);
  EXPECT_FALSE(*disk().exists(path()));
}

TEST_P(KeyValueStoreTest, IsOpenOnceAtATime) {
  const auto store = open();
  const auto second = try_open();
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, Code::kFailedPrecondition);
  EXPECT_THAT(second.error().message, HasSubstr("open elsewhere"));
}

TEST_P(KeyValueStoreTest, GivesAValueWithoutBeingOpenedAlsoWhileItIs) {
  EXPECT_EQ(read_value(path(), "a", on_disk({})).error().code, Code::kNotFound);
  auto store = open({.families = {"other"}});
  put(*store, "a", "written out");
  ASSERT_TRUE(store->flush().ok());
  put(*store, "b", "in the log");
  put(*store, "a", "of another family", Family{1});
  EXPECT_EQ(*read_value(path(), "a", on_disk({})), "written out");
  EXPECT_EQ(*read_value(path(), "b", on_disk({})), "in the log");
  EXPECT_EQ(*read_value(path(), "c", on_disk({})), std::nullopt);
  put(*store, "b", "later");
  EXPECT_EQ(**store->get("b"), "later");
  ASSERT_TRUE(store->close().ok());
  EXPECT_EQ(*read_value(path(), "b", on_disk({})), "later");
}

TEST_P(KeyValueStoreTest, CallsDamageDataLoss) {
  {
    const auto store = open();
    Batch batch(*store);
    for (int i = 0; i < 1'000; ++i) batch.put("key" + std::to_string(i), std::string(100, 'x'));
    ASSERT_TRUE(store->write(batch).ok());
    ASSERT_TRUE(store->flush().ok());
    ASSERT_TRUE(store->close().ok());
  }
  for (const std::string& name : names()) {
    if (name == "rows.log" || fs::path(name).extension() == ".sst") damage(path() / name, 1'000);
  }
  const auto store = try_open();
  const Status read = store.ok() ? (*store)->for_each("", [](auto, auto) { return Status(Done{}); })
                                 : Status(store.error());
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().code, Code::kDataLoss);
  EXPECT_THAT(read.error().message, HasSubstr(path().string()));
}

TEST_P(KeyValueStoreTest, AgreesWithAMapOverManyBatches) {
  const StoreOptions options{.write_buffer_bytes = 1 << 16, .log_bytes = 1 << 14};
  auto store = open(options);
  std::map<std::string, std::string> model;
  Random random(7);
  for (int round = 0; round < 200; ++round) {
    Batch batch(*store);
    for (int i = 0; i < 50; ++i) {
      const std::string key = "k" + std::to_string(random.below(2'000));
      if (random.below(4) == 0) {
        batch.remove(key);
        model.erase(key);
      } else {
        batch.put(key, std::to_string(round));
        model[key] = std::to_string(round);
      }
    }
    ASSERT_TRUE(store->write(batch, {.sync = false}).ok());
    if (round == 120) store.reset(), store = open(options);
    if (round == 150) {
      ASSERT_TRUE(store->compact().ok());
    }
  }
  std::vector<std::string> expected;
  for (const auto& [key, value] : model) expected.push_back(key + "=" + value);
  EXPECT_EQ(with_prefix(*store, "k"), expected);
}

TEST_P(KeyValueStoreTest, TellsWhatItUses) {
  const auto store = open();
  for (int i = 0; i < 100; ++i) put(*store, std::to_string(i), std::string(1'000, 'x'));
  EXPECT_GT(store->usage().write_buffer_bytes, 100'000U);
  ASSERT_TRUE(store->compact().ok());
  EXPECT_EQ(store->usage().keys, 100U);
  EXPECT_GT(store->usage().disk_bytes, 100'000U);
  EXPECT_GE(store->usage().memory_bytes(), store->usage().write_buffer_bytes);
}

TEST_P(KeyValueStoreTest, WhatIsOnlyInTheLogIsOnDisk) {
  const auto store = open();
  const std::uint64_t before = store->usage().disk_bytes;
  for (int i = 0; i < 100; ++i) put(*store, std::to_string(i), std::string(1'000, 'x'));
  EXPECT_GT(store->usage().disk_bytes, before + 100'000);
}

TEST_P(KeyValueStoreTest, AnEmptyRangeRemovesNothing) {
  const auto store = open();
  put(*store, "b", "v");
  Batch batch(*store);
  batch.remove_range("c", "a");
  batch.remove_range("b", "b");
  EXPECT_EQ(batch.size(), 0U);
  ASSERT_TRUE(store->write(batch).ok());
  EXPECT_THAT(with_prefix(*store, ""), ElementsAre("b=v"));
}

TEST_P(KeyValueStoreTest, ACursorSeesTheMomentItWasMade) {
  const auto store = open();
  for (const char* key : {"a", "b", "c"}) put(*store, key, "old");
  Cursor at = store->cursor({});
  Batch batch(*store);
  batch.remove("b");
  batch.put("bb", "new");
  batch.put("c", "new");
  ASSERT_TRUE(store->write(batch).ok());
  std::string seen;
  for (; at.valid(); at.next()) seen += std::string(at.key()) + "=" + std::string(at.value()) + " ";
  EXPECT_EQ(seen, "a=old b=old c=old ");
  EXPECT_THAT(with_prefix(*store, ""), ElementsAre("a=old", "bb=new", "c=new"));
}

TEST_P(KeyValueStoreTest, ACheckpointIsAStoreOfItsOwn) {
  const StoreOptions options{.families = {"texts"},
                             .tuning = {{"texts", {.apart_from_bytes = 100}}}};
  const auto store = open(options);
  put(*store, "a", "written out");
  put(*store, "long", std::string(1'000, 'x'), Family{1});
  ASSERT_TRUE(store->flush().ok());
  put(*store, "b", "in the log");
  Batch batch(*store);
  batch.put("c", "not logged");
  ASSERT_TRUE(store->write(batch, {.sync = false, .log = false}).ok());
  const fs::path folder = root() / "copy";
  const Status copied = store->checkpoint(folder);
  ASSERT_TRUE(copied.ok()) << copied.error().message;
  EXPECT_EQ(store->checkpoint(folder).error().code, Code::kFailedPrecondition);
  put(*store, "a", "later");
  ASSERT_TRUE(store->compact().ok());
  const auto copy = *KeyValueStore::open(folder, on_disk(options));
  EXPECT_THAT(with_prefix(*copy, ""), ElementsAre("a=written out", "b=in the log", "c=not logged"));
  EXPECT_EQ(*copy->get("long", Family{1}), std::string(1'000, 'x'));
  put(*copy, "a", "of the copy");
  EXPECT_EQ(*store->get("a"), "later");
}

TEST_P(KeyValueStoreTest, IngestsSortedRowsAllOrNone) {
  const StoreOptions options{.families = {"edges"}};
  auto store = open(options);
  put(*store, "k1", "old", Family{1});
  const Snapshot before(*store);
  const auto rows = [](const std::vector<std::string>& keys) {
    return [keys, i = std::size_t{0}]() mutable -> Result<std::optional<Row>> {
      if (i == keys.size()) return std::optional<Row>();
      const std::string& key = keys[i++];
      if (key == "fail") return Error{Code::kCancelled, "enough"};
      return std::optional(Row{key, "new"});
    };
  };
  const Status ingested = store->ingest(rows({"k0", "k1", "k2"}), Family{1});
  ASSERT_TRUE(ingested.ok()) << ingested.error().message;
  EXPECT_EQ(store->ingest(rows({"l1", "l0"}), Family{1}).error().code, Code::kInvalidArgument);
  EXPECT_EQ(store->ingest(rows({"l1", "l1"}), Family{1}).error().code, Code::kInvalidArgument);
  EXPECT_EQ(store->ingest(rows({"l1", "fail"}), Family{1}).error().message, "enough");
  EXPECT_TRUE(store->ingest(rows({})).ok());
  EXPECT_EQ(*before.get("k1", Family{1}), "old");
  put(*store, "k2", "newer", Family{1});
  for (int round = 0; round < 2; ++round) {
    EXPECT_THAT(with_prefix(*store, "", Family{1}), ElementsAre("k0=new", "k1=new", "k2=newer"));
    EXPECT_THAT(with_prefix(*open_killed(options), "", Family{1}),
                ElementsAre("k0=new", "k1=new", "k2=newer"));
    ASSERT_TRUE(store->ingest(rows({"k1"}), Family{1}).ok());
  }
}

TEST_P(KeyValueStoreTest, RefusesAFolderOfAnotherEngine) {
  put(*open(), "a", "one");
  StoreOptions other = on_disk({});
  other.engine = is_rocks() ? StoreOptions::Engine::kLog : StoreOptions::Engine::kRocksDb;
  const auto store = KeyValueStore::open(path(), other);
  ASSERT_FALSE(store.ok());
  EXPECT_EQ(store.error().code, Code::kFailedPrecondition);
  EXPECT_THAT(store.error().message, HasSubstr("another engine"));
}

TEST_P(KeyValueStoreTest, ReadersBesideAWriterSeeWholeBatches) {
  const auto store = open({.log_bytes = 10'000});
  std::jthread writer([&] {
    for (int round = 1; round <= 300; ++round) {
      Batch batch(*store);
      for (const char* key : {"a", "b", "c"}) batch.put(key, std::to_string(round));
      ASSERT_TRUE(store->write(batch, {.sync = false}).ok());
    }
  });
  for (bool last = false; !last;) {
    const Snapshot now(*store);
    const auto first = *now.get("a");
    for (Cursor at = now.cursor({}); at.valid(); at.next()) ASSERT_EQ(at.value(), *first);
    last = first == "300";
  }
}

}  // namespace
}  // namespace kin::kv
