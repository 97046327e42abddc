#include "index/shard/checkpoint.h"

#include <gtest/gtest.h>

#include "base/hash.h"

namespace kin::index {
namespace {

ShardCheckpoint sample() {
  return {.applied = 300,
          .sequence = 7,
          .spaces = {{.name = "main",
                      .options_hash = 0x0123456789ABCDEFULL,
                      .retired = {0, 5, 4'000'000'000U},
                      .sequences = {7, 2, 300}}},
          .near_duplicates = NearDuplicateRecord{.options_hash = 9, .sequences = {0, 7}}};
}

TEST(ShardCheckpointFormat, HasNotChanged) {
  const std::string bytes = encode(sample());
  EXPECT_EQ(bytes.size(), 62U);
  EXPECT_EQ(checksum(bytes), 4276201564025621317U);
  EXPECT_EQ(*decode_shard_checkpoint(bytes), sample());
  EXPECT_EQ(*decode_shard_checkpoint(encode(ShardCheckpoint{})), ShardCheckpoint{});
}

TEST(ShardCheckpointFormat, RefusesWhatIsDamaged) {
  const std::string bytes = encode(sample());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string flipped = bytes;
    flipped[i] = static_cast<char>(flipped[i] ^ 1);
    EXPECT_FALSE(decode_shard_checkpoint(flipped).ok());
    EXPECT_FALSE(decode_shard_checkpoint(bytes.substr(0, i)).ok());
  }
}

}  // namespace
}  // namespace kin::index
