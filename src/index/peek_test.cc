#include "index/peek.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/file.h"
#include "index/shard.h"

namespace kin::index {
namespace {

class ShardPeekTest : public ::testing::Test {
 protected:
  std::filesystem::path path() const { return folder_.path() / "shard"; }
  static void put(Shard& shard, const std::string& key) {
    const std::vector<Mutation> mutations{
        PutEntity{.entity = {.id = doc_id_of("", key), .key = key, .text = "tides"}}};
    ASSERT_TRUE(shard.apply(mutations).ok());
  }

 private:
  TemporaryFolder folder_ = *TemporaryFolder::create();
};

TEST_F(ShardPeekTest, TellsWhatAShardHoldsWhetherOrNotItIsOpen) {
  EXPECT_EQ(*peek_counters(path()), Counters{});
  auto shard = std::move(*Shard::open(path(), {}));
  put(*shard, "a");
  put(*shard, "b");
  EXPECT_EQ(peek_counters(path())->entities, 2U);
  put(*shard, "c");
  ASSERT_TRUE(shard->close().ok());
  shard.reset();
  EXPECT_EQ(peek_counters(path())->entities, 3U);
}

TEST_F(ShardPeekTest, TellsWhetherAShardIsOpen) {
  EXPECT_TRUE(check_closed(path()).ok());
  auto shard = std::move(*Shard::open(path(), {}));
  EXPECT_EQ(check_closed(path()).error().code, Code::kFailedPrecondition);
  shard.reset();
  EXPECT_TRUE(check_closed(path()).ok());
  std::ofstream(path() / kTruthFolder / "CURRENT") << "damaged";
  EXPECT_TRUE(check_closed(path()).ok());
}

}  // namespace
}  // namespace kin::index
