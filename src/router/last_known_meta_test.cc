#include "router/last_known_meta.h"

#include <gmock/gmock.h>

#include "base/testing/simulated_disk.h"
#include "router/local_meta_store.h"

namespace kin::router {
namespace {

// A store that can be away.
class MetaThatGoesAway final : public MetaStore {
 public:
  explicit MetaThatGoesAway(MetaStore& store) : store_(store) {}
  Result<std::optional<MetaValue>> get(std::string_view key) override {
    if (away) return gone();
    return store_.get(key);
  }
  Result<std::optional<std::uint64_t>> swap(std::string_view key, std::uint64_t expected,
                                            std::optional<std::string_view> bytes) override {
    if (away) return gone();
    return store_.swap(key, expected, bytes);
  }
  Result<MetaChanges> watch(std::string_view prefix, std::uint64_t after,
                            SteadyTime until) override {
    if (away) return gone();
    return store_.watch(prefix, after, until);
  }
  bool away = false;

 private:
  static Error gone() { return {Code::kUnavailable, "the store is away"}; }
  MetaStore& store_;
};

class LastKnownMetaTest : public testing::Test {
 protected:
  std::string value(std::string_view key) {
    const auto found = known_.get(key);
    KIN_CHECK(found.ok(), "it answers");
    return *found ? (*found)->bytes : "-";
  }
  SteadyTime now() { return clock_.steady_now(); }

  SimulatedDisk disk_;
  Clock& clock_ = system_clock();
  std::unique_ptr<LocalMetaStore> local_ = std::move(
      *LocalMetaStore::open("/meta", {.engine = kv::StoreOptions::Engine::kLog, .disk = &disk_}));
  MetaThatGoesAway store_{*local_};
  LastKnownMeta known_{store_, clock_};
};

TEST_F(LastKnownMetaTest, AnswersAsTheStoreDoesWhileThatIsThere) {
  ASSERT_TRUE(known_.load().ok());
  ASSERT_TRUE(known_.swap("map/a", 0, "one")->has_value());
  EXPECT_EQ(value("map/a"), "one");  // though it was not followed yet
  EXPECT_EQ(value("map/b"), "-");
  EXPECT_EQ(known_.watch("map/", 0, now())->entries.size(), 1U);
}

TEST_F(LastKnownMetaTest, GivesTheLastStateWhileTheStoreIsAway) {
  ASSERT_TRUE(local_->swap("map/a", 0, "one").ok());
  const auto removed = local_->swap("map/b", 0, "two");
  ASSERT_TRUE(known_.load().ok());
  ASSERT_TRUE(local_->swap("map/b", **removed, std::nullopt).ok());
  ASSERT_TRUE(local_->swap("map/c", 0, "three").ok());
  ASSERT_TRUE(known_.follow(now()).ok());
  store_.away = true;
  EXPECT_EQ(value("map/a"), "one");  // asked and not answered
  EXPECT_FALSE(known_.follow(now()).ok());
  EXPECT_EQ(value("map/a"), "one");  // not even asked
  EXPECT_EQ(value("map/b"), "-");
  EXPECT_EQ(value("map/c"), "three");
  EXPECT_EQ(known_.watch("map/", 0, now())->entries.size(), 2U);
  EXPECT_FALSE(known_.watch("map/", 1, now()).ok());
  EXPECT_EQ(known_.swap("map/d", 0, "x").error().code, Code::kUnavailable);
}

TEST_F(LastKnownMetaTest, AsksTheStoreAgainWhenItIsBack) {
  ASSERT_TRUE(known_.load().ok());
  store_.away = true;
  EXPECT_FALSE(known_.follow(now()).ok());
  ASSERT_TRUE(local_->swap("map/a", 0, "one").ok());  // by another router
  EXPECT_EQ(value("map/a"), "-");
  store_.away = false;
  ASSERT_TRUE(known_.follow(now()).ok());
  EXPECT_EQ(value("map/a"), "one");
}

}  // namespace
}  // namespace kin::router
