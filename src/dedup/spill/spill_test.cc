#include "dedup/spill/spill.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "base/ascii.h"
#include "base/bytes.h"
#include "base/file.h"
#include "base/testing/simulated_disk.h"
#include "base/workers.h"

namespace kin::dedup {
namespace {

using testing::HasSubstr;

class SpillTest : public testing::Test {
 protected:
  std::filesystem::path file() const { return folder_.path() / "x.spill"; }
  Spill::Options options(std::uint64_t memory) const {
    return {.file = file(), .record_bytes = sizeof(std::uint64_t), .memory_bytes = memory};
  }

  static std::vector<std::uint64_t> sorted_bin(const Spill& spill, std::size_t bin) {
    const auto bytes = spill.read(bin);
    EXPECT_TRUE(bytes.ok());
    std::vector<std::uint64_t> values(bytes->size() / sizeof(std::uint64_t));
    std::memcpy(values.data(), bytes->data(), bytes->size());
    std::sort(values.begin(), values.end());
    return values;
  }

  static void fill(Spill& spill, std::uint64_t from, std::uint64_t to) {
    Spill::Writer writer(spill);
    for (std::uint64_t value = from; value < to; ++value) {
      writer.append(value % Spill::kBins, value);
    }
    ASSERT_TRUE(writer.flush().ok());
  }

  TemporaryFolder folder_ = *TemporaryFolder::create();
};

TEST_F(SpillTest, HoldsTheSameInMemoryAndOnDisk) {
  Spill roomy(options(1 << 30));
  Spill tight({.file = folder_.path() / "y", .record_bytes = 8, .memory_bytes = 1 << 20});
  for (Spill* spill : {&roomy, &tight}) {
    ASSERT_TRUE(run_workers(3, [&](int worker) -> Status {
                  const auto part = static_cast<std::uint64_t>(worker);
                  fill(*spill, part * 200'000, (part + 1) * 200'000);
                  return Done{};
                }).ok());
  }
  EXPECT_EQ(roomy.bytes_on_disk(), 0U);
  EXPECT_GT(tight.bytes_on_disk(), 2'000'000U);
  EXPECT_EQ(tight.total_bytes(), 600'000U * 8);
  for (const std::size_t bin : {0, 7, 255}) {
    EXPECT_EQ(sorted_bin(tight, bin), sorted_bin(roomy, bin));
    EXPECT_GT(sorted_bin(roomy, bin).size(), 2'000U);
  }
}

TEST_F(SpillTest, IsTakenUpFromItsCheckpoint) {
  std::uint64_t length = 0;
  std::vector<std::uint64_t> before;
  {
    Spill spill(options(1 << 30));
    fill(spill, 0, 50'000);
    length = *spill.checkpoint();
    before = sorted_bin(spill, 3);
    fill(spill, 50'000, 90'000);  // after the checkpoint, so these are lost
    ASSERT_TRUE(spill.checkpoint().ok());
  }
  Spill again(options(1 << 30));
  ASSERT_TRUE(again.reopen(length).ok());
  EXPECT_EQ(sorted_bin(again, 3), before);
  fill(again, 50'000, 60'000);
  ASSERT_TRUE(again.checkpoint().ok());
  EXPECT_GT(sorted_bin(again, 3).size(), before.size());
}

TEST_F(SpillTest, RefusesAFlippedBit) {
  std::uint64_t length = 0;
  {
    Spill spill(options(1 << 30));
    fill(spill, 0, 50'000);
    length = *spill.checkpoint();
  }
  {
    std::fstream raw(file(), std::ios::in | std::ios::out | std::ios::binary);
    raw.seekp(static_cast<std::streamoff>(kSpillHeaderBytes) + 100);
    raw.put('!');
  }
  Spill again(options(1 << 30));
  ASSERT_TRUE(again.reopen(length).ok());
  const auto read = again.read(0);
  ASSERT_FALSE(read.ok());
  EXPECT_THAT(read.error().message, HasSubstr("x.spill"));
  EXPECT_THAT(read.error().message, HasSubstr("checksum"));
}

TEST_F(SpillTest, RefusesAFileThatIsTooShort) {
  {
    ASSERT_TRUE(File::create(file())->write("short").ok());
  }
  Spill spill(options(0));
  EXPECT_EQ(spill.reopen(1000).error().code, Code::kDataLoss);
}

TEST_F(SpillTest, ACheckpointSurvivesAPowerCut) {
  SimulatedDisk disk;
  const Spill::Options options{.file = "/x.spill", .record_bytes = 8, .disk = &disk};
  Spill spill(options);
  fill(spill, 0, 5'000);
  const std::uint64_t length = *spill.checkpoint();
  const std::vector<std::uint64_t> before = sorted_bin(spill, 3);
  fill(spill, 5'000, 9'000);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    // The name of the file is made durable by the checkpoint of the run, in the same folder.
    const auto woken = disk.power_cut({.names = UnsyncedNames::kKept, .seed = seed});
    Spill::Options again = options;
    again.disk = woken.get();
    Spill reopened(again);
    ASSERT_TRUE(reopened.reopen(length).ok());
    EXPECT_EQ(sorted_bin(reopened, 3), before);
  }
}

TEST_F(SpillTest, EveryFailedWriteIsReported) {
  for (std::uint64_t k = 1;; ++k) {
    SimulatedDisk disk;
    disk.fail(SimulatedDisk::Fault{.nth = k});
    Spill spill({.file = "/x.spill", .record_bytes = 8, .memory_bytes = 1 << 16, .disk = &disk});
    Spill::Writer writer(spill);
    for (std::uint64_t value = 0; value < 50'000; ++value)
      writer.append(value % Spill::kBins, value);
    const bool written = writer.flush().ok() && spill.checkpoint().ok();
    ASSERT_EQ(written, disk.failures() == 0) << k;
    if (written) break;
    ASSERT_LT(k, 1'000U);
  }
}

TEST(SpillFrame, NeverChanges) {
  const std::string frame = encode_spill_frame(3, "abcd");
  const std::string hex = to_hex(frame);
  EXPECT_EQ(hex.substr(0, 24), "4b53504c0100030004000000");
  EXPECT_EQ(hex.substr(48), "61626364");
  const auto header = decode_spill_header(frame);
  ASSERT_TRUE(header.ok());
  EXPECT_EQ(header->bin, 3);
  EXPECT_EQ(header->bytes, 4U);
}

}  // namespace
}  // namespace kin::dedup
