#include "router/followers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/sized_text.h"
#include "base/testing/simulated_disk.h"
#include "router/local_meta_store.h"

namespace kin::router {
namespace {

using testing::UnorderedElementsAre;

constexpr Hash128 kOne{.low = 1, .high = 2};
constexpr Hash128 kOther{.low = 3, .high = 4};

ShardMap map() {
  ShardMap map = spread_partitions("papers", {"a:1", "b:1"}, 4);
  map.identities = {kOne, kOther};
  return map;
}

// A change here is a change of format: raise the version and keep reading the old one.
TEST(FollowersFormat, BytesStayAsTheyWere) {
  const std::vector<Follower> copies{{.shard = kOne, .address = "a:1"}};
  std::string bytes("KREP");
  append_le(bytes, std::uint16_t{1});
  append_le(bytes, std::uint32_t{1});
  for (const std::uint64_t half : {1U, 2U}) append_le(bytes, std::uint64_t{half});
  append_sized(bytes, "a:1");
  append_le(bytes, checksum(bytes));
  EXPECT_EQ(encode(copies), bytes);
  EXPECT_EQ(*decode_followers(bytes), copies);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 16);
    EXPECT_FALSE(decode_followers(damaged).ok()) << i;
    EXPECT_FALSE(decode_followers(bytes.substr(0, i)).ok()) << i;
  }
}

TEST(Followers, GoToTheNodesWithTheFewestCopies) {
  const auto plan = plan_followers(map(), {"a:1", "b:1", "c:1"}, 1, {});
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_THAT(*plan,
              UnorderedElementsAre(Follower{kOne, "a:1"}, Follower{kOne, "c:1"},
                                   Follower{kOther, "b:1"}, Follower{kOther, "a:1"}));
}

TEST(Followers, ThoseThatAreThereStay) {
  const Followers now{.copies = {{kOne, "b:1"}, {kOne, "gone:1"}, {kOther, "c:1"}}};
  const auto plan = plan_followers(map(), {"a:1", "b:1", "c:1"}, 1, now);
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_THAT(*plan,
              UnorderedElementsAre(Follower{kOne, "a:1"}, Follower{kOne, "b:1"},
                                   Follower{kOther, "b:1"}, Follower{kOther, "c:1"}));
  EXPECT_TRUE(plan_followers(map(), {"a:1", "b:1"}, 0, now)->empty());
}

TEST(Followers, NeedEnoughNodes) {
  EXPECT_EQ(plan_followers(map(), {"a:1", "b:1"}, 2, {}).error().code, Code::kInvalidArgument);
  ShardMap old = map();
  old.identities.clear();
  EXPECT_EQ(plan_followers(old, {"a:1", "b:1"}, 1, {}).error().code, Code::kInvalidArgument);
}

TEST(Followers, AreWrittenByOneAtATime) {
  SimulatedDisk disk;
  const auto meta = std::move(*LocalMetaStore::open(
      "/meta", {.engine = kv::StoreOptions::Engine::kLog, .disk = &disk}));
  const Followers none = *read_followers(*meta, "papers");
  EXPECT_TRUE(none.copies.empty());
  EXPECT_TRUE(*swap_followers(*meta, "papers", none, {{kOne, "a:1"}}));
  EXPECT_FALSE(*swap_followers(*meta, "papers", none, {{kOne, "b:1"}}));
  EXPECT_THAT(read_followers(*meta, "papers")->copies, UnorderedElementsAre(Follower{kOne, "a:1"}));
}

}  // namespace
}  // namespace kin::router
