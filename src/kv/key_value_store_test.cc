#include "kv/key_value_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "base/file.h"
#include "base/random.h"

namespace kin::kv {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class KeyValueStoreTest : public testing::Test {
 protected:
  fs::path path() const { return folder_.path() / "store"; }

  std::unique_ptr<KeyValueStore> open(const StoreOptions& options = {}) {
    auto store = KeyValueStore::open(path(), options);
    KIN_CHECK(store.ok(), "the store opens");
    return std::move(*store);
  }

  static void put(KeyValueStore& store, std::string_view key, std::string_view value,
                  Family family = kMain) {
    Batch batch(store);
    batch.put(key, value, family);
    ASSERT_TRUE(store.write(batch).ok());
  }

  static std::vector<std::string> with_prefix(const KeyValueStore& store, std::string_view prefix) {
    std::vector<std::string> found;
    const Status visited =
        store.for_each(prefix, [&](std::string_view key, std::string_view value) {
          found.push_back(std::string(key) + "=" + std::string(value));
          return Status(Done{});
        });
    EXPECT_TRUE(visited.ok());
    return found;
  }

 private:
  TemporaryFolder folder_ = std::move(*TemporaryFolder::create());
};

TEST_F(KeyValueStoreTest, GivesBackWhatWasPutAndNothingForWhatWasNot) {
  const auto store = open();
  put(*store, "a", "one");
  put(*store, "", "the empty key");
  put(*store, std::string_view("\0b", 2), "");
  EXPECT_EQ(*store->get("a"), "one");
  EXPECT_EQ(*store->get(""), "the empty key");
  EXPECT_EQ(*store->get(std::string_view("\0b", 2)), "");
  EXPECT_EQ(*store->get("b"), std::nullopt);
}

TEST_F(KeyValueStoreTest, OfTwoChangesInABatchTheLaterHolds) {
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

TEST_F(KeyValueStoreTest, AnswersForManyKeysAtOnce) {
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

TEST_F(KeyValueStoreTest, VisitsAPrefixInOrderAndStopsWhenTold) {
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

TEST_F(KeyValueStoreTest, GivesManyValuesInTheOrderOfTheirKeys) {
  const auto store = open();
  put(*store, "a", "one");
  put(*store, "c", "");
  const std::vector<std::string> keys{"c", "b", "a", "a"};
  EXPECT_THAT(*store->get_many(keys), ElementsAre("", std::nullopt, "one", "one"));
}

TEST_F(KeyValueStoreTest, ACursorStaysWithinItsRangeAndSeeksBothWays) {
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

TEST_F(KeyValueStoreTest, ASnapshotIsNotChangedByLaterBatches) {
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

TEST_F(KeyValueStoreTest, RemovesARangeWithoutItsEnd) {
  const auto store = open();
  for (const char* key : {"a", "b", "c", "d"}) put(*store, key, "v");
  Batch batch(*store);
  batch.remove_range("b", "d");
  ASSERT_TRUE(store->write(batch).ok());
  EXPECT_THAT(with_prefix(*store, ""), ElementsAre("a=v", "d=v"));
}

TEST_F(KeyValueStoreTest, KeepsLongValuesApartAndFindsThemAgain) {
  const StoreOptions options{.families = {"texts"},
                             .tuning = {{"texts", {.apart_from_bytes = 100}}}};
  {
    const auto store = open(options);
    put(*store, "long", std::string(1'000, 'x'), Family{1});
    put(*store, "short", "x", Family{1});
    ASSERT_TRUE(store->flush().ok());
  }
  std::size_t apart = 0;
  for (const auto& entry : fs::directory_iterator(path()))
    apart += entry.path().extension() == ".blob" ? 1 : 0;
  EXPECT_EQ(apart, 1U);
  const auto store = open(options);
  EXPECT_EQ(*store->get("long", Family{1}), std::string(1'000, 'x'));
  EXPECT_EQ(*store->get("short", Family{1}), "x");
  ASSERT_TRUE(store->compact().ok());
  EXPECT_EQ(*store->get("long", Family{1}), std::string(1'000, 'x'));
}

TEST_F(KeyValueStoreTest, KeepsFamiliesApartAndWritesThemTogether) {
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

TEST_F(KeyValueStoreTest, KeepsAFamilyThatIsNotNamedWhenItIsOpenedAgain) {
  {
    const auto store = open({.families = {"edges"}});
    put(*store, "a", "edge", Family{1});
  }
  {
    EXPECT_EQ(*open()->get("a"), std::nullopt);
  }
  EXPECT_EQ(*open({.families = {"new", "edges"}})->get("a", Family{2}), "edge");
}

TEST_F(KeyValueStoreTest, RefusesAFamilyNamedTwice) {
  const auto store = KeyValueStore::open(path(), {.families = {"edges", "edges"}});
  ASSERT_FALSE(store.ok());
  EXPECT_EQ(store.error().code, Code::kInvalidArgument);
}

TEST_F(KeyValueStoreTest, RemembersAfterBeingClosedAndForgetsWhenAskedTo) {
  put(*open(), "a", "one");
  {
    EXPECT_EQ(*open({.mode = StoreOptions::Mode::kOpen})->get("a"), "one");
  }
  EXPECT_EQ(*open({.mode = StoreOptions::Mode::kFresh})->get("a"), std::nullopt);
}

TEST_F(KeyValueStoreTest, KeepsABatchThatIsNotLoggedOnceItIsFlushed) {
  const auto store = open();
  put(*store, "logged", "one");
  Batch batch(*store);
  batch.put("not logged", "two");
  ASSERT_TRUE(store->write(batch, {.sync = false, .log = false}).ok());
  EXPECT_EQ(*store->get("not logged"), "two");
  // What a process that is killed now would leave.
  const auto left = [&](const char* name) {
    const fs::path copy = path().parent_path() / name;
    fs::copy(path(), copy, fs::copy_options::recursive);
    return std::move(*KeyValueStore::open(copy, {}));
  };
  EXPECT_EQ(*left("before")->get("logged"), "one");
  EXPECT_EQ(*left("before again")->get("not logged"), std::nullopt);
  ASSERT_TRUE(store->flush().ok());
  EXPECT_EQ(*left("after")->get("not logged"), "two");
}

TEST_F(KeyValueStoreTest, SaysWhenThereIsNoStore) {
  const auto store = KeyValueStore::open(path(), {.mode = StoreOptions::Mode::kOpen});
  ASSERT_FALSE(store.ok());
  EXPECT_EQ(store.error().code, Code::kNotFound);
  EXPECT_FALSE(fs::exists(path()));
}

TEST_F(KeyValueStoreTest, IsOpenOnceAtATime) {
  const auto store = open();
  const auto second = KeyValueStore::open(path(), {});
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, Code::kFailedPrecondition);
  EXPECT_THAT(second.error().message, HasSubstr("open elsewhere"));
}

TEST_F(KeyValueStoreTest, GivesAValueWithoutBeingOpenedAlsoWhileItIs) {
  EXPECT_EQ(read_value(path(), "a").error().code, Code::kNotFound);
  auto store = open({.families = {"other"}});
  put(*store, "a", "written out");
  ASSERT_TRUE(store->flush().ok());
  put(*store, "b", "in the log");
  put(*store, "a", "of another family", Family{1});
  EXPECT_EQ(*read_value(path(), "a"), "written out");
  EXPECT_EQ(*read_value(path(), "b"), "in the log");
  EXPECT_EQ(*read_value(path(), "c"), std::nullopt);
  put(*store, "b", "later");
  EXPECT_EQ(**store->get("b"), "later");
  ASSERT_TRUE(store->close().ok());
  EXPECT_EQ(*read_value(path(), "b"), "later");
}

TEST_F(KeyValueStoreTest, CallsDamageDataLoss) {
  {
    const auto store = open();
    Batch batch(*store);
    for (int i = 0; i < 1'000; ++i) batch.put("key" + std::to_string(i), std::string(100, 'x'));
    ASSERT_TRUE(store->write(batch).ok());
    ASSERT_TRUE(store->flush().ok());
  }
  for (const auto& entry : fs::directory_iterator(path())) {
    if (entry.path().extension() != ".sst") continue;
    std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(1'000);
    file.put('!');
  }
  const auto store = open();
  const Status read = store->for_each("", [](auto, auto) { return Status(Done{}); });
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().code, Code::kDataLoss);
  EXPECT_THAT(read.error().message, HasSubstr(path().string()));
}

TEST_F(KeyValueStoreTest, AgreesWithAMapOverManyBatches) {
  const StoreOptions options{.write_buffer_bytes = 1 << 16};
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

TEST_F(KeyValueStoreTest, TellsWhatItUses) {
  const auto store = open();
  for (int i = 0; i < 100; ++i) put(*store, std::to_string(i), std::string(1'000, 'x'));
  EXPECT_GT(store->usage().write_buffer_bytes, 100'000U);
  EXPECT_EQ(store->usage().disk_bytes, 0U);
  ASSERT_TRUE(store->compact().ok());
  EXPECT_EQ(store->usage().keys, 100U);
  EXPECT_GT(store->usage().disk_bytes, 100'000U);
  EXPECT_GE(store->usage().memory_bytes(), store->usage().write_buffer_bytes);
}

}  // namespace
}  // namespace kin::kv
