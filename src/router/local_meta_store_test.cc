#include "router/local_meta_store.h"

#include <thread>

#include "base/file.h"
#include "base/testing/simulated_disk.h"
#include "router/testing/meta_store_contract.h"

namespace kin::router {
namespace {

template <kv::StoreOptions::Engine engine>
class LocalMeta final : public ReachableMeta {
 public:
  LocalMeta() { restart(); }
  MetaStore& meta() override { return *store_; }
  Clock& clock() override { return system_clock(); }
  void restart() override {
    store_.reset();
    auto opened = LocalMetaStore::open(folder_.path() / "meta", {.engine = engine});
    KIN_CHECK(opened.ok(), "the store opens");
    store_ = std::move(*opened);
  }

 private:
  TemporaryFolder folder_ = std::move(*TemporaryFolder::create());
  std::unique_ptr<LocalMetaStore> store_;
};

template <kv::StoreOptions::Engine engine>
std::unique_ptr<ReachableMeta> make() {
  return std::make_unique<LocalMeta<engine>>();
}

INSTANTIATE_TEST_SUITE_P(OnRocksDb, MetaStoreContract,
                         testing::Values(with_contract(&make<kv::StoreOptions::Engine::kRocksDb>)));
INSTANTIATE_TEST_SUITE_P(OnALog, MetaStoreContract,
                         testing::Values(with_contract(&make<kv::StoreOptions::Engine::kLog>)));

TEST(LocalMetaStore, AWatcherIsWokenByAChange) {
  LocalMeta<kv::StoreOptions::Engine::kLog> one;
  std::optional<Result<MetaChanges>> seen;
  std::thread watcher([&] {
    seen = one.meta().watch("map/", 0, system_clock().steady_now() + std::chrono::minutes{1});
  });
  ASSERT_TRUE(one.meta().swap("map/a", 0, "one").ok());
  watcher.join();
  ASSERT_TRUE(seen && seen->ok());
  EXPECT_EQ((*seen)->entries.size(), 1U);
}

TEST(LocalMetaStore, AChangeThatWasAcknowledgedSurvivesAPowerCut) {
  SimulatedDisk disk;
  const LocalMetaOptions options{.engine = kv::StoreOptions::Engine::kLog, .disk = &disk};
  auto meta = std::move(*LocalMetaStore::open("/meta", options));
  ASSERT_TRUE(meta->swap("map/a", 0, "one")->has_value());
  const auto after = disk.power_cut({.bytes = UnsyncedBytes::kLost, .names = UnsyncedNames::kLost});
  auto again = LocalMetaStore::open("/meta", {.engine = options.engine, .disk = after.get()});
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ((*(*again)->get("map/a"))->bytes, "one");
}

}  // namespace
}  // namespace kin::router
