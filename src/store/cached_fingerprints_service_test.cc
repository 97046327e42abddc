// Properties of the cache in Redis alone. contracts_service_test.cc has the common contract.
#include "store/cached_fingerprints.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/testing/manual_clock.h"
#include "store/local_stores.h"
#include "store/testing/documents.h"
#include "store/testing/places.h"

namespace kin::store {
namespace {

// A store that two workers use, each through its own cache: a local store can be open once, so both
// borrow it.
class BorrowedStore final : public FingerprintStore {
 public:
  explicit BorrowedStore(FingerprintStore& store) : store_(store) {}
  const FingerprintParameters& parameters() const override { return store_.parameters(); }
  Result<Found> find(std::span<const Fingerprint> batch) override { return store_.find(batch); }
  Result<std::vector<std::optional<Fingerprint>>> get(std::span<const DocId> ids) override {
    return store_.get(ids);
  }
  Result<std::vector<Admission>> admit(std::span<const Fingerprint> batch, const Found& found,
                                       std::span<const std::size_t> chosen,
                                       const Judge& judge) override {
    return store_.admit(batch, found, chosen, judge);
  }
  Status each(const Visit& visit) override { return store_.each(visit); }
  Result<FingerprintStats> stats() override { return store_.stats(); }
  Result<std::vector<std::string>> check() override { return store_.check(); }

 private:
  FingerprintStore& store_;
};

class CachedFingerprintsTest : public testing::Test {
 protected:
  std::unique_ptr<CachedFingerprints> worker() {
    CacheOptions options;
    options.redis = server_.options();
    options.clock = &clock_;
    return std::make_unique<CachedFingerprints>(std::make_unique<BorrowedStore>(*store_), options);
  }
  static Fingerprint with_band(const std::string& key, const std::string& text) {
    Fingerprint made = document(key);
    made.bands = {7};
    made.packed_text = text;
    return made;
  }
  static void admit(FingerprintStore& store, const Fingerprint& one) {
    const std::vector<Fingerprint> batch{one};
    const std::vector<std::size_t> chosen{0};
    ASSERT_TRUE(store.admit(batch, *store.find(batch), chosen, never()).ok());
  }
  // The document, as a worker gets it after finding it by its band.
  static std::optional<Fingerprint> find_and_get(FingerprintStore& store, const DocId& doc) {
    Fingerprint probe;
    probe.bands = {7};
    EXPECT_TRUE(store.find(std::span(&probe, 1)).ok());
    return (*store.get(std::span(&doc, 1)))[0];
  }

  TemporaryFolder folder_ = *TemporaryFolder::create();
  ManualClock clock_{WallTime(std::chrono::milliseconds(1'000'000'000))};
  std::unique_ptr<FingerprintStore> store_ =
      *open_local_fingerprints({.folder = folder_.path() / "store"}, some_parameters());
  RedisServer server_{"plain"};
};

TEST_F(CachedFingerprintsTest, WhatOneWorkerAdmittedAnotherGetsFromTheCache) {
  const auto one = worker();
  const auto other = worker();
  const Fingerprint stored = with_band("a", "text");
  admit(*one, stored);
  EXPECT_EQ(find_and_get(*other, stored.doc), stored);
  EXPECT_EQ(other->counts().hits, 1U);
  EXPECT_EQ(other->counts().failures, 0U);
}

TEST_F(CachedFingerprintsTest, AReplacedDocumentIsNeverGivenFromTheCache) {
  const auto one = worker();
  const auto other = worker();
  admit(*one, with_band("a", "old"));
  EXPECT_EQ(find_and_get(*other, with_band("a", "").doc)->packed_text, "old");
  Fingerprint replaced = with_band("a", "new");
  replaced.run = "tuesday";
  // A worker without a cache replaces it, so Redis is not told.
  admit(*store_, replaced);
  EXPECT_EQ(find_and_get(*other, replaced.doc), replaced);
  EXPECT_EQ(find_and_get(*one, replaced.doc), replaced);
}

TEST_F(CachedFingerprintsTest, ThatADocumentIsMissingIsNotRemembered) {
  const auto one = worker();
  const Fingerprint later = with_band("later", "text");
  EXPECT_EQ(find_and_get(*one, later.doc), std::nullopt);
  admit(*store_, later);
  EXPECT_EQ(find_and_get(*one, later.doc), later);
}

TEST_F(CachedFingerprintsTest, EntriesWithOtherBytesAreNotBelieved) {
  const auto one = worker();
  const Fingerprint a = with_band("a", "text of a");
  const Fingerprint b = with_band("b", "text of b");
  admit(*one, a);
  admit(*one, b);
  cloud::RespClient client(server_.options());
  const auto keys = client.call({"KEYS", "*"});
  ASSERT_EQ(keys->items.size(), 2U);
  // Each value under the name of the other; then nonsense.
  const auto first = client.call({"GET", keys->items[0].text});
  const auto second = client.call({"GET", keys->items[1].text});
  ASSERT_TRUE(client.call({"SET", keys->items[0].text, second->text}).ok());
  ASSERT_TRUE(client.call({"SET", keys->items[1].text, first->text}).ok());
  EXPECT_EQ(find_and_get(*one, a.doc), a);
  EXPECT_EQ(find_and_get(*one, b.doc), b);
  EXPECT_EQ(one->counts().failures, 2U);
  ASSERT_TRUE(client.call({"SET", keys->items[0].text, "nonsense"}).ok());
  ASSERT_TRUE(client.call({"DEL", keys->items[1].text}).ok());
  ASSERT_TRUE(client.call({"LPUSH", keys->items[1].text, "a list"}).ok());
  EXPECT_EQ(find_and_get(*one, a.doc), a);
  EXPECT_EQ(find_and_get(*one, b.doc), b);
}

TEST_F(CachedFingerprintsTest, AServerThatDiesCostsTimeOnly) {
  const auto one = worker();
  const Fingerprint stored = with_band("a", "text");
  admit(*one, stored);
  server_.stop();
  EXPECT_EQ(find_and_get(*one, stored.doc), stored);
  EXPECT_EQ(one->counts().failures, 1U);
  // The cache is not used for a while.
  EXPECT_EQ(find_and_get(*one, stored.doc), stored);
  admit(*one, with_band("b", "text"));
  EXPECT_EQ(one->counts().failures, 1U);
  clock_.advance(std::chrono::seconds(11));
  EXPECT_EQ(find_and_get(*one, stored.doc), stored);
  EXPECT_EQ(one->counts().failures, 2U) << "it was asked once more";
}

}  // namespace
}  // namespace kin::store
