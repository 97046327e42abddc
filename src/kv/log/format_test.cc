#include "kv/log/format.h"

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/testing/simulated_disk.h"

namespace kin::kv {
namespace {

using Kind = LogChange::Kind;

std::string payload_of(const std::vector<LogChange>& changes) {
  std::string payload;
  for (const LogChange& change : changes) append_change(payload, change);
  return payload;
}

// A log of a first part with one row, and three batches of which the first two were synced.
std::string sample() {
  SimulatedDisk disk;
  auto log = *LogWriter::create(*disk.create("/log"), {"default", "edges"});
  EXPECT_TRUE(log.append(payload_of({{Kind::kPut, 0, "a", "one"}})).ok());
  EXPECT_TRUE(log.seal().ok());
  EXPECT_TRUE(log.sync().ok());
  EXPECT_TRUE(log.append(payload_of({{Kind::kPut, 1, "", ""}, {Kind::kRemove, 0, "a", {}}})).ok());
  EXPECT_TRUE(log.append(payload_of({{Kind::kRemoveRange, 1, "b", "c"}})).ok());
  EXPECT_TRUE(log.sync().ok());
  EXPECT_TRUE(log.append(payload_of({{Kind::kPut, 0, "z", "last"}})).ok());
  return *read_whole(disk, "/log");
}

struct Read {
  std::vector<std::string> families;
  std::vector<std::string> changes;
  Status status = Done{};
};

Read read(std::string_view bytes) {
  Read read;
  read.status = decode_log(
      bytes, [&](std::vector<std::string> names) { read.families = std::move(names); },
      [&](const LogChange& change) {
        read.changes.push_back(std::to_string(static_cast<int>(change.kind)) + " " +
                               std::to_string(change.family) + " " + std::string(change.key) + "=" +
                               std::string(change.value));
      });
  return read;
}

const std::vector<std::string> kChanges{"1 0 a=one", "1 1 =", "2 0 a=", "3 1 b=c", "1 0 z=last"};

TEST(LogFormat, HasNotChanged) {
  const std::string bytes = sample();
  EXPECT_EQ(bytes.size(), 237U);
  EXPECT_EQ(checksum(bytes), 2752115380778914685U);
  const Read all = read(bytes);
  ASSERT_TRUE(all.status.ok()) << all.status.error().message;
  EXPECT_EQ(all.families, (std::vector<std::string>{"default", "edges"}));
  EXPECT_EQ(all.changes, kChanges);
}

TEST(LogFormat, LeavesOutATornEndAndRefusesDamageBeforeIt) {
  const std::string bytes = sample();
  const std::size_t last = bytes.rfind("KVF1");
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string flipped = bytes;
    flipped[i] = static_cast<char>(flipped[i] ^ 1);
    const Read got = read(flipped);
    EXPECT_EQ(got.status.ok(), i >= last) << i;
    if (i < last) continue;
    EXPECT_EQ(got.changes, std::vector<std::string>(kChanges.begin(), kChanges.end() - 1));
  }
  EXPECT_TRUE(read(bytes.substr(0, last + 5)).status.ok());
  const std::size_t first_seal = bytes.find("KVF1", bytes.find("KVF1") + 1);
  EXPECT_EQ(read(bytes.substr(0, first_seal)).status.error().code, Code::kDataLoss);
}

TEST(LogFormat, NamesTheVersionItCannotRead) {
  std::string bytes = sample();
  store_le(bytes.data() + 8, std::uint32_t{2});
  const Status refused = read(bytes).status;
  EXPECT_EQ(refused.error().code, Code::kFailedPrecondition);
  EXPECT_NE(refused.error().message.find("version 2"), std::string::npos);
}

}  // namespace
}  // namespace kin::kv
