#include "store/seen/log.h"

#include <gtest/gtest.h>

#include "base/testing/simulated_disk.h"

namespace kin::store {
namespace {

class SeenLogTest : public testing::TestWithParam<IdKind> {
 protected:
  SeenLogTest() {
    EXPECT_TRUE(disk_.make_folder("d").ok());
    for (std::uint64_t i = 0; i < 20; ++i) {
      ids_.push_back({mix64(i), GetParam() == IdKind::kText ? i : 0});
    }
  }
  SeenPlacement placement() { return {&disk_, "d", GetParam()}; }

  // Two ids a frame, each frame synced.
  std::string write_log() {
    auto log = SeenLogWriter::create(placement(), 5, 100);
    EXPECT_TRUE(log.ok());
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      EXPECT_TRUE(log->add(ids_[i]).ok());
      if (i % 2 == 1) {
        EXPECT_TRUE(log->sync().ok());
      }
    }
    return *read_whole(disk_, log_path("d", 5));
  }

  Result<SeenLogContents> decode(std::string_view bytes, std::uint64_t durable,
                                 std::vector<SeenId>& out) {
    out.clear();
    return decode_log(bytes, GetParam(), {5, 100, durable}, [&](SeenId id) { out.push_back(id); });
  }

  SimulatedDisk disk_;
  std::vector<SeenId> ids_;
};

TEST_P(SeenLogTest, GivesBackWhatWasAddedInOrder) {
  const std::string bytes = write_log();
  std::vector<SeenId> out;
  const auto contents = decode(bytes, bytes.size(), out);
  ASSERT_TRUE(contents.ok());
  EXPECT_EQ(out, ids_);
  EXPECT_EQ(contents->length, bytes.size());
  EXPECT_FALSE(contents->sealed);
}

TEST_P(SeenLogTest, ATornEndIsDroppedAndWhatIsBeforeItStays) {
  const std::string bytes = write_log();
  std::vector<SeenId> out;
  for (std::size_t size = 40; size < bytes.size(); ++size) {
    const auto contents = decode(std::string_view(bytes).substr(0, size), 0, out);
    ASSERT_TRUE(contents.ok()) << size;
    EXPECT_EQ(out.size(), contents->ids);
    EXPECT_TRUE(std::equal(out.begin(), out.end(), ids_.begin()));
    EXPECT_EQ(contents->length + contents->dropped_bytes, size);
  }
}

TEST_P(SeenLogTest, DamageToWhatWasSyncedIsNotTakenForATornEnd) {
  const std::string bytes = write_log();
  std::vector<SeenId> out;
  const std::size_t last_frame = bytes.size() - 32 - 2 * (GetParam() == IdKind::kText ? 16 : 8);
  for (std::size_t at = 40; at < bytes.size(); ++at) {
    std::string bad = bytes;
    bad[at] = static_cast<char>(bad[at] ^ (1 << (at % 8)));
    // A later frame shows that this one had been synced; for the last, only the manifest shows it.
    EXPECT_EQ(decode(bad, 0, out).ok(), at >= last_frame) << at;
    EXPECT_FALSE(decode(bad, bytes.size(), out).ok()) << at;
  }
}

TEST_P(SeenLogTest, ASealedLogSaysSo) {
  const std::string bytes = write_log();
  std::vector<SeenId> out;
  auto log = SeenLogWriter::reopen(placement(), {5, 100, 0}, *decode(bytes, 0, out));
  ASSERT_TRUE(log.ok() && log->seal().ok());
  const auto contents = decode(*read_whole(disk_, log_path("d", 5)), 0, out);
  ASSERT_TRUE(contents.ok());
  EXPECT_TRUE(contents->sealed);
  EXPECT_EQ(out, ids_);
}

TEST_P(SeenLogTest, ALogOfAnotherPlaceIsRefused) {
  const std::string bytes = write_log();
  EXPECT_FALSE(decode_log(bytes, GetParam(), {6, 100, 0}, [](SeenId) {}).ok());
  EXPECT_FALSE(decode_log(bytes, GetParam(), {5, 99, 0}, [](SeenId) {}).ok());
}

INSTANTIATE_TEST_SUITE_P(Kinds, SeenLogTest, testing::Values(IdKind::kNumber, IdKind::kText));

}  // namespace
}  // namespace kin::store
