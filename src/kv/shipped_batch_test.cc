#include "kv/shipped_batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "base/hash.h"
#include "kv/testing/store_fixture.h"

namespace kin::kv {
namespace {

using Kind = ShippedChange::Kind;

class ShippedBatchTest : public StoreFixture {
 protected:
  std::unique_ptr<KeyValueStore> open_observed() {
    return open({.families = {"edges"},
                 .observer = [this](std::string batch) { batches_.push_back(std::move(batch)); }});
  }
  // A store on the same disk to which batches are applied.
  std::unique_ptr<KeyValueStore> open_copy() {
    // Its families have other numbers.
    auto copy = KeyValueStore::open(root() / "copy", on_disk({.families = {"more", "edges"}}));
    EXPECT_TRUE(copy.ok());
    return std::move(*copy);
  }
  static void apply(const std::vector<std::string>& batches, KeyValueStore& copy) {
    for (const std::string& bytes : batches) {
      Batch batch(copy);
      ASSERT_TRUE(add_shipped(bytes, copy, batch).ok());
      ASSERT_TRUE(copy.write(batch).ok());
    }
  }

  std::vector<std::string> batches_;
};

INSTANTIATE_TEST_SUITE_P(Engines, ShippedBatchTest, testing::ValuesIn(kEveryKind), name_of);

TEST_P(ShippedBatchTest, ACopyThatAppliesAllBatchesHasEqualContents) {
  const auto store = open_observed();
  put(*store, "a", "1");
  put(*store, "b", "2", Family{1});
  Batch batch(*store);
  for (const char* key : {"c1", "c2", "c3"}) batch.put(key, std::string(1000, 'x'), Family{1});
  batch.remove_range("c2", "c3", Family{1});
  batch.remove_range("z", "a");  // nothing
  batch.remove("a");
  batch.put("", "the empty key");
  ASSERT_TRUE(store->write(batch).ok());
  EXPECT_EQ(batches_.size(), 3U);
  const auto copy = open_copy();
  apply(batches_, *copy);
  EXPECT_EQ(with_prefix(*copy, ""), with_prefix(*store, ""));
  EXPECT_EQ(with_prefix(*copy, "", Family{2}), with_prefix(*store, "", Family{1}));
  // Applied again from any of them on.
  apply({batches_.begin() + 1, batches_.end()}, *copy);
  EXPECT_EQ(with_prefix(*copy, ""), with_prefix(*store, ""));
  EXPECT_EQ(with_prefix(*copy, "", Family{2}), with_prefix(*store, "", Family{1}));
}

TEST_P(ShippedBatchTest, EmptyAndClearedAndRefusedBatchesAreNotHandedOver) {
  const auto store = open_observed();
  Batch batch(*store);
  ASSERT_TRUE(store->write(batch).ok());
  batch.put("a", "1");
  batch.clear();
  batch.put("b", "2");
  ASSERT_TRUE(store->write(batch).ok());
  ASSERT_EQ(batches_.size(), 1U);
  std::vector<std::string> keys;
  ASSERT_TRUE(visit_shipped(batches_[0], [&](const ShippedChange& change) -> Status {
                keys.emplace_back(change.key);
                return Done{};
              }).ok());
  EXPECT_THAT(keys, testing::ElementsAre("b"));
}

TEST_P(ShippedBatchTest, IngestedRowsAreHandedOverToo) {
  const auto store = open_observed();
  int row = 0;
  ASSERT_TRUE(store->ingest([&]() -> Result<std::optional<Row>> {
                if (row == 2) return std::optional<Row>();
                return std::optional(Row{row++ == 0 ? "a" : "b", "v"});
              }).ok());
  const auto copy = open_copy();
  apply(batches_, *copy);
  EXPECT_THAT(with_prefix(*copy, ""), testing::ElementsAre("a=v", "b=v"));
}

TEST_P(ShippedBatchTest, BatchesOfManyThreadsAreInTheOrderOfTheirCommits) {
  const auto store = open_observed();
  std::vector<std::thread> writers;
  for (int writer = 0; writer < 4; ++writer) {
    writers.emplace_back([&, writer] {
      for (int i = 0; i < 20; ++i) put(*store, "same", std::to_string(writer * 100 + i));
    });
  }
  for (std::thread& writer : writers) writer.join();
  const auto copy = open_copy();
  apply(batches_, *copy);
  EXPECT_EQ(*copy->get("same"), *store->get("same"));
}

TEST_P(ShippedBatchTest, ABatchOfAFamilyThatTheCopyLacksIsRefused) {
  const auto store = open_observed();
  put(*store, "a", "1", Family{1});
  auto copy = *KeyValueStore::open(root() / "other", on_disk({}));
  Batch batch(*copy);
  EXPECT_EQ(add_shipped(batches_[0], *copy, batch).error().code, Code::kFailedPrecondition);
}

// What a batch of a store with two families is, for ever.
TEST(ShippedBatchFormat, HasNotChanged) {
  SimulatedDisk disk;
  std::string bytes;
  auto store = *KeyValueStore::open("/store", {.families = {"edges"},
                                               .engine = StoreOptions::Engine::kLog,
                                               .disk = &disk,
                                               .observer = [&](std::string b) { bytes = b; }});
  Batch batch(*store);
  batch.put("key", "value", Family{1});
  batch.remove("gone");
  batch.remove_range("from", "to", Family{1});
  ASSERT_TRUE(store->write(batch).ok());
  EXPECT_EQ(bytes.size(), 83U);
  EXPECT_EQ(checksum(bytes), 249041455730479349U);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    EXPECT_EQ(visit_shipped(damaged, [](const ShippedChange&) { return Status(Done{}); })
                  .error()
                  .code,
              Code::kDataLoss);
    EXPECT_FALSE(visit_shipped(bytes.substr(0, i), [](const ShippedChange&) -> Status {
                   return Done{};
                 }).ok());
  }
}

TEST(ShippedBatchFormat, NamesTheVersionItCannotRead) {
  std::string bytes = encode_shipped(std::vector<std::string>{"default"}, "");
  bytes[0] = 2;
  store_le(bytes.data() + bytes.size() - 8, checksum(bytes.substr(0, bytes.size() - 8)));
  const Status refused = visit_shipped(bytes, [](const ShippedChange&) { return Status(Done{}); });
  EXPECT_EQ(refused.error().code, Code::kFailedPrecondition);
}

}  // namespace
}  // namespace kin::kv
