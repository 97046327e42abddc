#include "router/move.h"

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/sized_text.h"
#include "router/testing/local_cluster.h"

namespace kin::router {
namespace {

using index::PartitionId;

Move made() {
  return {.id = 9,
          .partition = PartitionId{7},
          .source = 1,
          .target = 2,
          .epoch = 5,
          .fence = 6,
          .phase = MovePhase::kAborting,
          .reason = "as asked"};
}

// A change here is a change of format: raise the version and keep reading the old one.
TEST(MoveFormat, BytesStayAsTheyWere) {
  std::string bytes("KMOV");
  append_le(bytes, std::uint16_t{1});
  append_le(bytes, std::uint64_t{9});
  for (const std::uint32_t number : {7U, 1U, 2U}) append_le(bytes, number);
  for (const std::uint64_t epoch : {5U, 6U}) append_le(bytes, epoch);
  bytes += '\x08';
  append_sized(bytes, "as asked");
  append_le(bytes, checksum(bytes));
  EXPECT_EQ(encode(made()), bytes);
  EXPECT_EQ(move_key("papers", PartitionId{7}), "move/papers/0000000007");
  EXPECT_EQ(index_of_move("move/papers/0000000007"), "papers");
}

TEST(MoveFormat, BytesWithTermsStayAsTheyWere) {
  Move move = made();
  move.source_term = 3;
  // Version 1 and the terms behind it.
  std::string bytes = encode(made());
  bytes.resize(bytes.size() - sizeof(std::uint64_t));
  bytes[4] = 2;
  for (const std::uint64_t term : {3U, 0U}) append_le(bytes, std::uint64_t{term});
  append_le(bytes, checksum(bytes));
  EXPECT_EQ(encode(move), bytes);
}

class MoveFormatOf : public testing::TestWithParam<std::uint64_t> {};

TEST_P(MoveFormatOf, DecodesWhatItEncodedAndFindsDamage) {
  Move move = made();
  move.target_term = GetParam();
  EXPECT_EQ(*decode_move(encode(move)), move);
  const std::string bytes = encode(move);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 16);
    EXPECT_FALSE(decode_move(damaged).ok()) << i;
    EXPECT_FALSE(decode_move(bytes.substr(0, i)).ok()) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Terms, MoveFormatOf, testing::Values(0, 5));

TEST(MovePhases, EachLeadsToAnEnd) {
  for (int i = 0; i <= static_cast<int>(MovePhase::kFailed); ++i) {
    auto phase = static_cast<MovePhase>(i);
    EXPECT_FALSE(name_of(phase).empty());
    int steps = 0;
    for (; !rule_of(phase).over; phase = rule_of(phase).next) ASSERT_LT(++steps, 10);
    EXPECT_FALSE(rule_of(phase).can_abort);
  }
}

class MovesTest : public testing::Test {
 protected:
  MovesTest() : cluster_({.shards = 2, .partitions = 4}) {}
  MetaStore& meta() { return cluster_.meta(); }
  LocalCluster cluster_;
};

TEST_F(MovesTest, AMoveIsCheckedAgainstTheMap) {
  const auto code = [&](const NewMove& wanted) {
    return begin_move(meta(), "things", wanted).error().code;
  };
  EXPECT_EQ(code({.partition = PartitionId{4}, .target = 1}), Code::kInvalidArgument);
  EXPECT_EQ(code({.partition = PartitionId{0}, .target = 2}), Code::kInvalidArgument);
  EXPECT_EQ(code({.partition = PartitionId{0}, .target = 0}), Code::kInvalidArgument);
  EXPECT_EQ(begin_move(meta(), "others", {}).error().code, Code::kNotFound);
  EXPECT_TRUE(read_moves(meta(), "things")->empty());
}

TEST_F(MovesTest, APartitionMovesOnceAtATime) {
  const NewMove wanted{.partition = PartitionId{0}, .target = 1};
  const Move begun = *begin_move(meta(), "things", wanted);
  EXPECT_EQ(begun.source, 0U);
  EXPECT_EQ(begun.epoch, 1U);
  EXPECT_EQ(begin_move(meta(), "things", wanted).error().code, Code::kFailedPrecondition);
  EXPECT_TRUE(begin_move(meta(), "things", {.partition = PartitionId{1}, .target = 1}).ok());
  EXPECT_EQ(read_moves(meta(), "things")->size(), 2U);
}

TEST_F(MovesTest, AMoveThatIsOverCannotBeAborted) {
  EXPECT_EQ(abort_move(meta(), "things", PartitionId{0}, "x").error().code, Code::kNotFound);
  ASSERT_TRUE(begin_move(meta(), "things", {.partition = PartitionId{0}, .target = 1}).ok());
  EXPECT_EQ(abort_move(meta(), "things", PartitionId{0}, "as asked")->reason, "as asked");
  EXPECT_EQ(abort_move(meta(), "things", PartitionId{0}, "again").error().code,
            Code::kFailedPrecondition);
}

}  // namespace
}  // namespace kin::router
