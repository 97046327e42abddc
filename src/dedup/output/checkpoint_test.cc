#include "dedup/output/checkpoint.h"

#include <gtest/gtest.h>

#include "base/file.h"

namespace kin::dedup {
namespace {

Checkpoint sample() {
  Checkpoint checkpoint;
  checkpoint.run = 42;
  checkpoint.position = {.file = 1, .offset = 1000, .line = 12, .row = 11};
  checkpoint.spill_lengths = {1, 2, 3, 4};
  checkpoint.counts = {5, 6, 7, 8, 9, 10, 11};
  checkpoint.found = {true, false};
  checkpoint.digests = {{.bytes = 7, .hash = 8, .status_changed = -1}};
  checkpoint.dataset.first_rows = {0, 7};
  checkpoint.dataset.skipped.count = 1;
  checkpoint.dataset.skipped.rows = {record_id(4)};
  checkpoint.dataset.skipped.messages = {{record_id(4), "a.jsonl:5: not JSON"}};
  return checkpoint;
}

TEST(Checkpoint, ComesBackAsItWas) {
  const auto decoded = decode_checkpoint(encode(sample()));
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(decoded->position, sample().position);
  EXPECT_EQ(decoded->spill_lengths, sample().spill_lengths);
  EXPECT_EQ(decoded->counts, sample().counts);
  EXPECT_EQ(decoded->found, sample().found);
  EXPECT_EQ(decoded->digests, sample().digests);
  EXPECT_EQ(decoded->dataset.first_rows, sample().dataset.first_rows);
  EXPECT_EQ(decoded->dataset.skipped.messages, sample().dataset.skipped.messages);
}

TEST(Checkpoint, RefusesEveryFlippedBit) {
  const std::string bytes = encode(sample());
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_FALSE(decode_checkpoint(damaged).ok()) << "bit " << bit;
  }
}

TEST(Checkpoint, RefusesEveryTruncation) {
  const std::string bytes = encode(sample());
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_FALSE(decode_checkpoint(bytes.substr(0, length)).ok()) << length;
  }
}

TEST(Checkpoint, OfAnotherRunIsRefused) {
  const TemporaryFolder folder = *TemporaryFolder::create();
  ASSERT_TRUE(save_decisions(folder.path(), sample(), {}, Sources()).ok());
  EXPECT_TRUE(load_checkpoint(folder.path(), 42)->has_value());
  EXPECT_EQ(load_checkpoint(folder.path(), 43).error().code, Code::kFailedPrecondition);
}

TEST(Decisions, ComeBackAsTheyWere) {
  const TemporaryFolder folder = *TemporaryFolder::create();
  const std::vector<Removal> removals{{record_id(3), record_id(1), 0.875F, Method::kMinHash}};
  ASSERT_TRUE(save_decisions(folder.path(), sample(), removals, Sources()).ok());
  Sources sources;
  const auto restored = restore_decisions(folder.path(), sample(), sources);
  ASSERT_TRUE(restored.ok());
  ASSERT_EQ(restored->size(), 1U);
  EXPECT_EQ(restored->front().kept, record_id(1));
  EXPECT_EQ(restored->front().similarity, 0.875F);
}

TEST(Decisions, AreRefusedIfTheyNameRowsThatDoNotExist) {
  const TemporaryFolder folder = *TemporaryFolder::create();
  const std::vector<Removal> removals{{record_id(300), record_id(1), 1, Method::kExact}};
  ASSERT_TRUE(save_decisions(folder.path(), sample(), removals, Sources()).ok());
  Sources sources;
  EXPECT_EQ(restore_decisions(folder.path(), sample(), sources).error().code, Code::kDataLoss);
}

}  // namespace
}  // namespace kin::dedup
