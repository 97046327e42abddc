#include "router/shipped_log.h"

#include <gtest/gtest.h>

#include "router/log_snapshot.h"
#include "router/shard_log.h"

namespace kin::router {
namespace {

LogObject sample() {
  return {.kind = LogObject::Kind::kBatches,
          .position = {3, 17},
          .time = WallTime{std::chrono::milliseconds{1'700'000'000'123}},
          .writer = {.low = 1, .high = 2},
          .batches = {{.store = LogStore::kDirectory,
                       .time = WallTime{std::chrono::milliseconds{1'700'000'000'001}},
                       .bytes = "places"},
                      {.store = LogStore::kTruth,
                       .time = WallTime{std::chrono::milliseconds{1'700'000'000'002}},
                       .bytes = "things"}}};
}

LogSnapshot sample_snapshot() {
  return {.index = "papers",
          .identity = {.low = 7, .high = 9},
          .settings = "{}",
          .owner = "10.0.0.7:7700",
          .from = {3, 12},
          .consistent = {3, 17},
          .time = WallTime{std::chrono::milliseconds{1'700'000'000'123}},
          .files = {{.path = "truth/000012.sst",
                     .size = 100,
                     .hash = {.low = 5, .high = 6},
                     .object = "file/00000000000000000003/ab"}}};
}

template <typename Decode>
void expect_damage_is_seen(const std::string& bytes, const Decode& decode) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    EXPECT_EQ(decode(damaged).error().code, Code::kDataLoss) << i;
    EXPECT_EQ(decode(bytes.substr(0, i)).error().code, Code::kDataLoss) << i;
  }
}

// A later version, with a right checksum.
std::string of_version(std::string bytes, std::size_t at) {
  bytes[at] = 9;
  bytes.resize(bytes.size() - 8);
  append_le(bytes, checksum(bytes));
  return bytes;
}

TEST(LogObjectFormat, HasNotChanged) {
  const std::string bytes = encode(sample());
  EXPECT_EQ(*decode_log_object(bytes), sample());
  EXPECT_EQ(bytes.size(), 132U);
  EXPECT_EQ(checksum(bytes), 15989476378936418830U);
  expect_damage_is_seen(bytes, [](const std::string& b) { return decode_log_object(b); });
  EXPECT_EQ(decode_log_object(of_version(bytes, 8)).error().code, Code::kFailedPrecondition);
}

TEST(LogObjectFormat, KeepsBeginningsAndSeals) {
  const LogObject begin{.kind = LogObject::Kind::kBegin,
                        .position = {4, 1},
                        .writer = {.low = 3, .high = 4},
                        .owner = "10.0.0.7:7700",
                        .base = LogPosition{3, 18}};
  EXPECT_EQ(*decode_log_object(encode(begin)), begin);
  const LogObject seal{.kind = LogObject::Kind::kSeal, .position = {3, 18}, .next_term = 4};
  EXPECT_EQ(*decode_log_object(encode(seal)), seal);
}

TEST(LogSnapshotFormat, HasNotChanged) {
  const std::string bytes = encode(sample_snapshot());
  EXPECT_EQ(*decode_log_snapshot(bytes), sample_snapshot());
  EXPECT_EQ(bytes.size(), 189U);
  EXPECT_EQ(checksum(bytes), 7478871338757242328U);
  expect_damage_is_seen(bytes, [](const std::string& b) { return decode_log_snapshot(b); });
  EXPECT_EQ(decode_log_snapshot(of_version(bytes, 8)).error().code, Code::kFailedPrecondition);
}

TEST(LogSnapshotFormat, RefusesPathsThatLeaveTheFolder) {
  for (const char* path : {"../x", "truth/../../x", "truth/..", "/etc/passwd", "truth", "other/x"}) {
    LogSnapshot snapshot = sample_snapshot();
    snapshot.files[0].path = path;
    EXPECT_EQ(decode_log_snapshot(encode(snapshot)).error().code, Code::kDataLoss) << path;
  }
}

TEST(LogRoleFormat, HasNotChanged) {
  const LogRole role{.term = 3,
                     .writer = {.low = 1, .high = 2},
                     .next_term = 4,
                     .next_writer = {.low = 3, .high = 4},
                     .clean = LogPosition{3, 17},
                     .restored = true};
  const std::string bytes = encode(role);
  EXPECT_EQ(*decode_log_role(bytes), role);
  EXPECT_EQ(bytes.size(), 74U);
  EXPECT_EQ(checksum(bytes), 1545764859161054878U);
  expect_damage_is_seen(bytes, [](const std::string& b) { return decode_log_role(b); });
}

TEST(LogPositionFormat, HasNotChanged) {
  const std::string bytes = encode(LogPosition{3, 17});
  EXPECT_EQ(*decode_log_position(bytes), (LogPosition{3, 17}));
  EXPECT_EQ(bytes, std::string("\x01\x03\0\0\0\0\0\0\0\x11\0\0\0\0\0\0\0", 17));
  EXPECT_EQ(decode_log_position(bytes.substr(1)).error().code, Code::kFailedPrecondition);
  EXPECT_EQ(decode_log_position(bytes + "x").error().code, Code::kDataLoss);
}

TEST(LogNames, SortAsPositionsDo) {
  EXPECT_EQ(log_object_name({3, 17}), "log/00000000000000000003/00000000000000000017");
  EXPECT_EQ(position_in(log_object_name({3, 17})), (LogPosition{3, 17}));
  EXPECT_EQ(position_in(snapshot_name({1, 2})), (LogPosition{1, 2}));
  EXPECT_LT(log_object_name({3, 99}), log_object_name({3, 100}));
  EXPECT_LT(log_object_name({3, 100}), log_object_name({4, 1}));
  for (const char* name : {"log/3/17", "file/x", "log/", "log/00000000000000000003/0000000000000000001x"})
    EXPECT_EQ(position_in(name), std::nullopt) << name;
  const Hash128 identity{.low = 0xab, .high = 0xcd};
  EXPECT_EQ(identity_text(identity), "00000000000000cd00000000000000ab");
  EXPECT_EQ(parse_identity(identity_text(identity)), identity);
  EXPECT_EQ(parse_identity("00000000000000CD00000000000000AB"), std::nullopt);
}

}  // namespace
}  // namespace kin::router
