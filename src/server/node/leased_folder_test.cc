#include "server/node/leased_folder.h"

#include <gmock/gmock.h>

#include "base/file.h"
#include "cloud/object_store.h"
#include "index/mutation.h"
#include "router/followers.h"
#include "router/local_meta_store.h"
#include "search/document.h"
#include "search/index_config.h"
#include "server/node/node_folder.h"
#include "server/service/step_thread.h"
#include "server/testing/test_client.h"

namespace kin::server {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr index::PartitionId kPartition{0};

// Nodes that share a meta store and a folder for their logs, each in a folder of its own.
class LeasedFolderTest : public testing::Test {
 protected:
  // Starts a node, as after SIGKILL if it was running.
  LeasedFolder& start(const std::string& name) {
    nodes_.erase(name);
    auto opened = open(name);
    KIN_CHECK(opened.ok(), opened.ok() ? "" : opened.error().message.c_str());
    Running& node = nodes_[name];
    node.folder = std::move(*opened);
    node.folder->start();
    node.snapshots = std::make_unique<StepThread>(system_clock(), [folder = node.folder.get()] {
      const auto outcome = folder->step_snapshots();
      if (outcome.ok() && outcome->did_work()) return *outcome;
      return StepOutcome::not_before(system_clock().steady_now() + milliseconds{20});
    });
    return *node.folder;
  }
  Result<std::unique_ptr<LeasedFolder>> open(const std::string& name) {
    NodeLogOptions log{.durable = true};
    log.objects = cloud::open_folder_objects(scratch_.path() / "log");
    return LeasedFolder::open(scratch_.path() / name,
                              {.meta = meta_.get(),
                               .address = name + ":1",
                               .log = std::move(log),
                               .draw = [this] { return Hash128{.low = ++drawn_, .high = 1}; },
                               .lease = {.length = milliseconds{600},
                                         .margin = milliseconds{200},
                                         .renew = milliseconds{50},
                                         .pause = milliseconds{20}}});
  }
  void stop(const std::string& name) { nodes_.erase(name); }

  static rpc::ServedIndex papers() {
    search::IndexConfig config;
    KIN_CHECK(search::choose_vectors(config, "none", 0).ok(), "settings are valid");
    return {.name = "papers", .settings = search::encode(config)};
  }
  // Makes a shard that owns a partition, with a document. Returns its identity.
  Hash128 make_shard(LeasedFolder& node) {
    KIN_CHECK(node.create(papers()).ok(), "the shard is made");
    const Hash128 shard = (*node.find("papers", {}))->identity();
    const router::AssignRequest owns{
        .owners = {{.partition = kPartition, .epoch = 1, .owned = true}}};
    KIN_CHECK(eventually([&] { return ask(node, shard, owns).has_value(); }),
              "it owns a partition");
    add(node, shard, "first");
    return shard;
  }
  void list(const Hash128& shard, const std::vector<std::string>& addresses) {
    const router::Followers now = *router::read_followers(*meta_, "papers");
    std::vector<router::Follower> copies;
    for (const std::string& one : addresses) copies.push_back({.shard = shard, .address = one});
    KIN_CHECK(*router::swap_followers(*meta_, "papers", now, copies), "they are listed");
  }
  // Nothing if the node does not answer as the owner, or what it did is not durable yet.
  std::optional<router::Response> ask(LeasedFolder& node, const Hash128& shard,
                                      const router::Request& request) {
    const auto host = node.find("papers", shard);
    if (!host) return {};
    const SteadyTime deadline = system_clock().steady_now() + std::chrono::seconds{10};
    auto reply = (*host)->serve(request, {.map_epoch = 1, .shard = shard, .deadline = deadline});
    if (!reply.ok() || std::holds_alternative<router::Refused>(*reply)) return {};
    if (!node.hold(*host, deadline).ok()) return {};
    return std::get<router::Response>(std::move(*reply));
  }
  // Until it is acknowledged.
  void add(LeasedFolder& node, const Hash128& shard, const std::string& name) {
    index::Entity entity;
    entity.id = search::doc_id(name);
    entity.key = name;
    KIN_CHECK(
        eventually([&] {
          const auto opened = ask(node, shard, router::OpenSession{});
          if (!opened) return false;
          return ask(node, shard,
                     router::WriteRequest{
                         .id = {.session = std::get<router::SessionOpened>(*opened).session,
                                .sequence = 1},
                         .mutations = {index::PutEntity{.entity = entity, .partition = kPartition}},
                         .partitions = {kPartition}})
              .has_value();
        }),
        "it is written");
  }
  bool has(LeasedFolder& node, const Hash128& shard, const std::string& name) {
    const auto reply = ask(
        node, shard, router::GetRequest{.ids = {search::doc_id(name)}, .partitions = {kPartition}});
    return reply && std::get<router::Entities>(*reply).entities.at(0).has_value();
  }
  static std::string role(LeasedFolder& node) {
    const auto figures = node.figures();
    return figures.empty() ? "none" : std::string(figures.front().copy->role);
  }
  // Has the node look at the rows, until it has such a copy.
  static bool becomes(LeasedFolder& node, const std::string& wanted) {
    return eventually(
        [&] { return node.follow_rows(system_clock().steady_now()).ok() && role(node) == wanted; });
  }

  std::atomic<std::uint64_t> drawn_{0};
  TemporaryFolder scratch_ = std::move(*TemporaryFolder::create());
  std::unique_ptr<router::LocalMetaStore> meta_ =
      std::move(*router::LocalMetaStore::open(scratch_.path() / "meta"));
  struct Running {
    std::unique_ptr<LeasedFolder> folder = {};
    std::unique_ptr<StepThread> snapshots = {};  // ends before the folder
  };
  std::map<std::string, Running> nodes_;
};

TEST_F(LeasedFolderTest, ACopyTakesOverAndTheFormerOwnerFollows) {
  LeasedFolder& one = start("one");
  const Hash128 shard = make_shard(one);
  list(shard, {"one:1", "other:1"});
  LeasedFolder& other = start("other");
  ASSERT_TRUE(becomes(other, "following"));
  EXPECT_FALSE(has(other, shard, "first"));  // it does not own it
  stop("one");
  ASSERT_TRUE(eventually([&] { return has(other, shard, "first"); }));
  add(other, shard, "second");
  EXPECT_GE(other.figures().front().copy->take_overs, 1U);

  LeasedFolder& back = start("one");
  ASSERT_TRUE(becomes(back, "following"));
  EXPECT_FALSE(has(back, shard, "second"));
  stop("other");
  ASSERT_TRUE(eventually([&] { return has(back, shard, "second"); }));
  EXPECT_TRUE(has(back, shard, "first"));
}

TEST_F(LeasedFolderTest, ANodeThatIsStartedAgainOwnsItsShardAtOnce) {
  const Hash128 shard = make_shard(start("one"));
  LeasedFolder& again = start("one");
  ASSERT_TRUE(eventually([&] { return has(again, shard, "first"); }));
  add(again, shard, "second");
  EXPECT_EQ(again.figures().front().copy->take_overs, 0U);
  nodes_["one"].snapshots->stop();
  EXPECT_TRUE(again.close().ok());  // in order
  LeasedFolder& third = start("one");
  EXPECT_TRUE(eventually([&] { return has(third, shard, "second"); }));
}

TEST_F(LeasedFolderTest, ALostDiskIsRestoredFromTheLog) {
  const Hash128 shard = make_shard(start("one"));
  stop("one");
  fs::remove_all(scratch_.path() / "one");
  LeasedFolder& empty = start("one");
  ASSERT_TRUE(eventually([&] { return has(empty, shard, "first"); }));
  EXPECT_TRUE(becomes(empty, "owning"));  // though no row lists it
}

TEST_F(LeasedFolderTest, ADroppedShardLeavesNothing) {
  LeasedFolder& one = start("one");
  const Hash128 shard = make_shard(one);
  list(shard, {"one:1", "other:1"});
  LeasedFolder& other = start("other");
  ASSERT_TRUE(becomes(other, "following"));
  ASSERT_TRUE(router::forget_followers(*meta_, "papers").ok());
  ASSERT_TRUE(becomes(other, "none"));
  ASSERT_TRUE(eventually([&] { return one.drop("papers", shard).ok(); }));
  EXPECT_EQ(role(one), "none");
  EXPECT_TRUE(one.drop("papers", shard).ok());
  ASSERT_TRUE(router::forget_leases(*meta_, "papers").ok());
  EXPECT_EQ(one.find("papers", shard).error().code, Code::kNotFound);
  const auto objects = cloud::open_folder_objects(scratch_.path() / "log");
  EXPECT_THAT(*cloud::list_all(*objects, ""), testing::IsEmpty());
}

TEST_F(LeasedFolderTest, WhatADroppedIndexLeftIsNotUsedForAnotherOne) {
  LeasedFolder& one = start("one");
  const Hash128 shard = make_shard(one);  // it is in no map, as after a drop
  ASSERT_TRUE(eventually([&] { return one.create(papers()).ok(); }));
  const Hash128 next = (*one.find("papers", {}))->identity();
  EXPECT_NE(next, shard);
  EXPECT_TRUE(one.create(papers()).ok());  // again, as after an answer that was lost
  EXPECT_EQ((*one.find("papers", {}))->identity(), next);
  EXPECT_EQ(one.list()->size(), 1U);
  EXPECT_EQ(one.create({.name = "../papers"}).error().code, Code::kInvalidArgument);
}

TEST_F(LeasedFolderTest, AFolderIsForOneProcessAndOneKindOfNode) {
  start("one");
  EXPECT_EQ(open("one").error().code, Code::kFailedPrecondition);
  stop("one");
  EXPECT_EQ(NodeFolder::open(scratch_.path() / "one", system_clock(), {}).error().code,
            Code::kFailedPrecondition);
  auto plain =
      NodeFolder::open(scratch_.path() / "plain", system_clock(), [] { return Hash128{.low = 1}; });
  ASSERT_TRUE(plain.ok() && (*plain)->create(papers()).ok());
  plain->reset();
  EXPECT_EQ(open("plain").error().code, Code::kFailedPrecondition);
}

}  // namespace
}  // namespace kin::server
