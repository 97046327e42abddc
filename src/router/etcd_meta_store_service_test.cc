#include "router/etcd_meta_store.h"

#include <gmock/gmock.h>

#include <thread>

#include "router/testing/etcd_server.h"
#include "router/testing/meta_store_contract.h"

namespace kin::router {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

std::unique_ptr<EtcdMetaStore> open(EtcdOptions options) {
  auto opened = EtcdMetaStore::open(std::move(options));
  KIN_CHECK(opened.ok(), opened.ok() ? "" : opened.error().message.c_str());
  return std::move(*opened);
}

class EtcdMeta final : public ReachableMeta {
 public:
  MetaStore& meta() override { return *store_; }
  Clock& clock() override { return system_clock(); }
  void restart() override {
    server_.stop();
    server_.start();
  }

 private:
  EtcdServer server_;
  std::unique_ptr<EtcdMetaStore> store_ = open(server_.options());
};

std::unique_ptr<ReachableMeta> make() {
  return std::make_unique<EtcdMeta>();
}
INSTANTIATE_TEST_SUITE_P(OnEtcd, MetaStoreContract, testing::Values(with_contract(&make)));

SteadyTime soon() {
  return system_clock().steady_now() + 1min;
}

TEST(EtcdMetaStore, AWatcherIsWokenByAChangeOfAnotherRouter) {
  const EtcdServer server;
  const auto one = open(server.options());
  const auto other = open(server.options());
  const std::uint64_t seen = one->watch("map/", 0, system_clock().steady_now())->revision;
  std::optional<Result<MetaChanges>> found;
  std::thread watcher([&] { found = one->watch("map/", seen, soon()); });
  ASSERT_TRUE(other->swap("settings/a", 0, "none").ok());
  ASSERT_TRUE(other->swap("map/a", 0, "one").ok());
  watcher.join();
  ASSERT_TRUE(found && found->ok());
  ASSERT_EQ((*found)->entries.size(), 1U);
  EXPECT_EQ((*found)->entries[0].key, "map/a");
}

TEST(EtcdMetaStore, StopEndsAWatch) {
  const EtcdServer server;
  const auto one = open(server.options());
  const std::uint64_t seen = one->watch("map/", 0, system_clock().steady_now())->revision;
  std::optional<Result<MetaChanges>> found;
  std::thread watcher([&] { found = one->watch("map/", seen, soon() + 1h); });
  one->stop();
  watcher.join();
  EXPECT_FALSE(found->ok());
}

TEST(EtcdMetaStore, RoutersWithOtherPrefixesDoNotSeeEachOther) {
  const EtcdServer server;
  EtcdOptions options = server.options();
  const auto one = open(options);
  options.prefix = "other/";
  const auto other = open(options);
  ASSERT_TRUE(one->swap("map/a", 0, "one")->has_value());
  EXPECT_FALSE(other->get("map/a")->has_value());
  ASSERT_TRUE(other->swap("map/a", 0, "two")->has_value());
  EXPECT_EQ((*one->get("map/a"))->bytes, "one");
  EXPECT_EQ(one->watch("", 0, soon())->entries.size(), 1U);
}

TEST(EtcdMetaStore, AMemberThatIsAwayIsPassedOver) {
  const EtcdServer server;
  EtcdServer away;
  EtcdOptions options = server.options();
  options.access.endpoints = {away.endpoint(), server.endpoint()};
  away.stop();
  const auto store = open(options);
  EXPECT_TRUE(store->swap("map/a", 0, "one")->has_value());
  EXPECT_EQ((*store->get("map/a"))->bytes, "one");
  EXPECT_EQ(store->watch("map/", 0, soon())->entries.size(), 1U);
}

TEST(EtcdMetaStore, AnEtcdThatIsAwayIsNamedAndFoundWhenItIsBack) {
  EtcdServer server;
  const auto store = open(server.options());
  ASSERT_TRUE(store->swap("map/a", 0, "one")->has_value());
  server.stop();
  const auto read = store->get("map/a");
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().code, Code::kUnavailable);
  EXPECT_THAT(read.error().message, HasSubstr(server.endpoint()));
  EXPECT_EQ(store->swap("map/b", 0, "two").error().code, Code::kUnavailable);
  EXPECT_EQ(store->watch("map/", 0, soon()).error().code, Code::kUnavailable);
  server.start();
  EXPECT_EQ((*store->get("map/a"))->bytes, "one");
}

TEST(EtcdMetaStore, TlsIsSpokenWithAServerWhoseCertificateIsTrusted) {
  const EtcdServer server(EtcdServer::Security::kTls);
  const auto store = open(server.options());
  EXPECT_TRUE(store->swap("map/a", 0, "one")->has_value());
  const EtcdServer stranger(EtcdServer::Security::kTls);
  EtcdOptions wrong = server.options();
  wrong.access.ca_file = stranger.options().access.ca_file;
  const auto refused = EtcdMetaStore::open(wrong);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("certificate"));
}

// Runs etcdctl, which scripts/setup installs.
void etcdctl(const EtcdServer& server, const std::string& words) {
  const std::string command =
      "ETCDCTL_API=3 etcdctl --endpoints=" + server.endpoint() + " " + words + " >/dev/null 2>&1";
  KIN_CHECK(std::system(command.c_str()) == 0, command.c_str());
}

TEST(EtcdMetaStore, AUserWithAPasswordIsLoggedInAndAgainWhenTheTokenIsOld) {
  EtcdServer server;
  etcdctl(server, "user add root:long-password");
  etcdctl(server, "role add routers");
  etcdctl(server, "role grant-permission routers --prefix=true readwrite kindred/");
  etcdctl(server, "user add router:its-password");
  etcdctl(server, "user grant-role router routers");
  etcdctl(server, "user grant-role root root");
  etcdctl(server, "auth enable");
  EtcdOptions options = server.options();
  EXPECT_FALSE(EtcdMetaStore::open(options).ok());
  options.access.user = "router";
  options.access.password = "wrong";
  const auto refused = EtcdMetaStore::open(options);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("password"));
  options.access.password = "its-password";
  const auto store = open(options);
  EXPECT_TRUE(store->swap("map/a", 0, "one")->has_value());
  server.stop();  // forgets its tokens
  server.start();
  EXPECT_EQ((*store->get("map/a"))->bytes, "one");
  options.prefix = "others/";
  const auto outside = EtcdMetaStore::open(options);
  ASSERT_FALSE(outside.ok());
  EXPECT_THAT(outside.error().message, HasSubstr("permission"));
}

TEST(EtcdMetaStore, AWatcherOfRevisionsThatEtcdDroppedStillLearnsWhatWasRemoved) {
  const EtcdServer server;
  const auto store = open(server.options());
  const auto first = store->swap("map/a", 0, "one");
  const auto second = store->swap("map/b", 0, "two");
  ASSERT_TRUE(store->swap("map/a", **first, std::nullopt)->has_value());
  const auto last = store->swap("map/b", **second, "three");
  etcdctl(server, "compact " + std::to_string(**last));
  const auto found = store->watch("map/", **first, soon());
  ASSERT_TRUE(found.ok()) << found.error().message;
  ASSERT_EQ(found->entries.size(), 2U);
  EXPECT_FALSE(found->entries[0].value.has_value());
  EXPECT_EQ(found->entries[1].value->bytes, "three");
}

TEST(EtcdMetaStore, RowsOfOthersUnderThePrefixAreNamed) {
  const EtcdServer server;
  etcdctl(server, "put kindred/map/x text");
  const auto store = open(server.options());
  const auto found = store->get("map/x");
  ASSERT_FALSE(found.ok());
  EXPECT_THAT(found.error().message, HasSubstr("kindred/map/x"));
}

}  // namespace
}  // namespace kin::router
