#include "router/grow.h"

#include <gmock/gmock.h>

#include "router/balance.h"
#include "router/mover.h"
#include "router/testing/local_cluster.h"

namespace kin::router {
namespace {

using testing::HasSubstr;

// A shard that is in no map yet, beside a cluster of two.
class GrowTest : public testing::Test {
 protected:
  GrowTest() : cluster_({.shards = 2, .partitions = 8}) {
    index::ShardOptions options;
    options.truth.engine = kv::StoreOptions::Engine::kLog;
    options.truth.disk = &disk_;
    auto host = ShardHost::open("/new", options, hash128("new"));
    KIN_CHECK(host.ok(), "the shard opens");
    host_ = std::move(*host);
  }
  Connect connect() {
    return [this](const std::string& address) -> std::shared_ptr<ShardClient> {
      if (address == "new" || address == "elsewhere") return std::make_shared<LocalClient>(*host_);
      return cluster_.connect()(address);
    };
  }
  ShardMap map() {
    return *decode_shard_map((*cluster_.meta().get(map_key("things")))->bytes);
  }

  SimulatedDisk disk_;
  LocalCluster cluster_;
  std::unique_ptr<ShardHost> host_;
};

TEST_F(GrowTest, AShardJoinsOnceAndGetsPartitionsByMoves) {
  for (int times = 0; times < 2; ++times) {
    const auto place = add_shard(cluster_.meta(), connect(), "things", "new");
    ASSERT_TRUE(place.ok()) << place.error().message;
    EXPECT_EQ(*place, 2U);
  }
  ASSERT_EQ(map().shards.size(), 3U);
  EXPECT_EQ(map().epoch, 2U);
  EXPECT_EQ(map().identities[2], hash128("new"));
  EXPECT_TRUE(host_->is_assigned());

  std::vector<index::Mutation> mutations;
  for (int i = 0; i < 100; ++i) {
    index::PutEntity put;
    const std::string key = std::to_string(i);
    put.entity = {.id = doc_id_of("test", key), .key = key, .text = "tide"};
    mutations.emplace_back(std::move(put));
  }
  auto router = Router::open("things", cluster_.meta(), connect());
  ASSERT_TRUE((*router)->write(mutations).ok());
  PartitionWeights weights;
  for (std::uint32_t i = 0; i < 8; ++i) weights[index::PartitionId{i}] = 1;
  const auto plan = plan_split(map(), 2, weights);
  ASSERT_TRUE(plan.ok());
  EXPECT_GE(plan->size(), 2U);
  for (const NewMove& one : *plan)
    ASSERT_TRUE(begin_move(cluster_.meta(), "things", one).ok());
  Mover mover("things", cluster_.meta(), connect(), {.grace = {}});
  for (int steps = 0; map().partitions_of(2).size() < plan->size(); ++steps) {
    ASSERT_LT(steps, 1'000);
    ASSERT_TRUE(mover.step().ok());
  }
  const auto found = (*router)->search({.text = index::TextLeg{.query = "tide"}, .k = 1'000});
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ(found->found.hits.size(), 100U);
}

TEST_F(GrowTest, AnAddressOfAnotherShardIsRefused) {
  ASSERT_TRUE(add_shard(cluster_.meta(), connect(), "things", "new").ok());
  const auto other = add_shard(cluster_.meta(), connect(), "things", "elsewhere");
  ASSERT_FALSE(other.ok());
  EXPECT_THAT(other.error().message, HasSubstr("is in the map, at new"));
  EXPECT_EQ(add_shard(cluster_.meta(), connect(), "none", "new").error().code, Code::kNotFound);
}

}  // namespace
}  // namespace kin::router
