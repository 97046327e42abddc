// Files of the seen set that rot: bits flipped, ends cut off, files lost or exchanged. No wrong
// answer is ever given.
#include <gtest/gtest.h>

#include "store/testing/seen_fixture.h"

namespace kin::store {
namespace {

namespace fs = std::filesystem;
using Mode = SeenOptions::Mode;

constexpr std::uint64_t kStrangers = 40;

class SeenRot : public testing::TestWithParam<IdKind> {
 protected:
  SeenRot() {
    auto set = *SeenSet::open(kSetFolder, options(disk_));
    EXPECT_TRUE(history_.write_on(*set, 100).ok());
    const auto is_varied = [&] { return set->stats().runs > 1 && set->stats().recent_ids > 5; };
    while (!is_varied() && history_.attempted() < 300) EXPECT_TRUE(history_.write_on(*set, 7).ok());
    EXPECT_TRUE(is_varied()) << "a log and several runs are wanted";
    EXPECT_TRUE(history_.close(*set).ok());
  }

  SeenOptions options(Disk& disk, Mode mode = Mode::kOpenOrMake) const {
    SeenOptions options = with_mode(small_set(disk, GetParam()), mode);
    options.table_ids = table_ids_;
    return options;
  }

  using Outcome = RotOutcome;

  // Opens the set, looks up everything and verifies: every answer is right, and every error is
  // kDataLoss.
  Outcome examine(SimulatedDisk& disk, Mode mode) {
    auto opened = SeenSet::open(kSetFolder, options(disk, mode));
    if (!opened.ok()) {
      EXPECT_EQ(opened.error().code, Code::kDataLoss) << opened.error().message;
      EXPECT_THAT(opened.error().message, testing::HasSubstr(kSetFolder.string()));
      return Outcome::kRefused;
    }
    SeenSet& set = **opened;
    bool reported = false;
    for (std::uint64_t n = 0; n < history_.attempted() + kStrangers; ++n) {
      const auto found = set.contains(nth_id(set, n));
      if (found.ok()) {
        EXPECT_EQ(*found, n < history_.attempted()) << "a wrong answer for id " << n;
      } else {
        EXPECT_EQ(found.error().code, Code::kDataLoss) << found.error().message;
        reported = true;
      }
    }
    const Status verified = set.verify();
    if (!verified.ok()) {
      EXPECT_EQ(verified.error().code, Code::kDataLoss) << verified.error().message;
      return Outcome::kReported;
    }
    EXPECT_FALSE(reported) << "a look-up met damage and verify() did not";
    if (set.stats().rebuilt_filters == 0) return Outcome::kUnnoticed;
    history_.expect_kept(set);
    return Outcome::kHealed;
  }

  // The callback for Rot: damage is always noticed.
  Rot::Examine noticed(Mode mode) {
    return [this, mode](SimulatedDisk& disk) {
      const Outcome outcome = examine(disk, mode);
      EXPECT_NE(outcome, Outcome::kUnnoticed) << "damage that nobody noticed";
      return outcome;
    };
  }

  std::uint64_t table_ids_ = 24;
  SimulatedDisk disk_;
  SeenHistory history_;
};

INSTANTIATE_TEST_SUITE_P(Kinds, SeenRot, testing::Values(IdKind::kNumber, IdKind::kText),
                         name_of_kind);

TEST_P(SeenRot, AFlippedBitInAnyByteIsNoticedByAReader) {
  Rot(disk_).flip_bits({.copies = false}, noticed(Mode::kRead));
}

TEST_P(SeenRot, AFlippedBitInAnyByteIsNoticedByAWriter) {
  Rot rot(disk_);
  rot.flip_bits({}, noticed(Mode::kOpenOrMake));
  EXPECT_GT(rot.count(Outcome::kHealed), 0U) << "no filter was flipped";
}

TEST_P(SeenRot, AHealedSetIsWholeWhenOpenedAgain) {
  Rot rot(disk_);
  rot.flip_bits({.stride = 97}, [&](SimulatedDisk& disk) {
    const Outcome outcome = examine(disk, Mode::kOpenOrMake);
    if (outcome != Outcome::kHealed) return outcome;
    auto set = *SeenSet::open(kSetFolder, options(disk));
    EXPECT_EQ(set->stats().rebuilt_filters, 0U) << "the filter was not written again";
    history_.expect_kept(*set);
    return outcome;
  });
  EXPECT_GT(rot.count(Outcome::kHealed), 0U);
}

// A table that may use all the memory leaves none for filters, so they are read on demand.
TEST_P(SeenRot, AFlippedBitInAFilterOnDiskIsNoticed) {
  table_ids_ = 10'000'000;
  EXPECT_EQ((*SeenSet::open(kSetFolder, options(disk_)))->stats().resident_filter_bytes, 0U);
  Rot rot(disk_);
  rot.flip_bits({.stride = 3, .copies = false}, noticed(Mode::kRead));
  rot.flip_bits({.stride = 7}, noticed(Mode::kOpenOrMake));
}

TEST_P(SeenRot, ABitFlippedUnderAnOpenSetGivesNoWrongAnswer) {
  for (const std::uint64_t table_ids : {std::uint64_t{24}, std::uint64_t{10'000'000}}) {
    table_ids_ = table_ids;
    for (const fs::path& path : disk_.files()) {
      const std::uint64_t size = read_whole(disk_, path)->size();
      for (std::uint64_t byte = 0; byte < size; byte += 11) {
        SCOPED_TRACE(path.string() + ", bit " + std::to_string(byte * 8 + byte % 8));
        auto set = *SeenSet::open(kSetFolder, options(disk_, Mode::kRead));
        disk_.flip_bit(path, byte * 8 + byte % 8);
        for (std::uint64_t n = 0; n < history_.attempted() + kStrangers; ++n) {
          const auto found = set->contains(nth_id(*set, n));
          ASSERT_TRUE(found.ok() ? *found == (n < history_.attempted())
                                 : found.error().code == Code::kDataLoss)
              << "id " << n;
        }
        disk_.flip_bit(path, byte * 8 + byte % 8);
      }
    }
  }
}

TEST_P(SeenRot, AFileCutShortIsNoticed) {
  for (const Mode mode : {Mode::kRead, Mode::kOpenOrMake})
    Rot(disk_).cut_files_short(noticed(mode));
}

TEST_P(SeenRot, AFileThatGrewIsNoticedOrHarmless) {
  for (const fs::path& path : disk_.files()) {
    SCOPED_TRACE(path.string());
    for (const std::size_t more : {1, 512, 5000}) {
      const auto disk = disk_.power_cut({});
      disk->replace(path, *read_whole(disk_, path) + std::string(more, '\0'));
      examine(*disk, Mode::kOpenOrMake);
    }
  }
}

TEST_P(SeenRot, ALostFileIsNoticed) {
  for (const Mode mode : {Mode::kRead, Mode::kOpenOrMake, Mode::kOpen})
    Rot(disk_).lose_files(noticed(mode));
}

TEST_P(SeenRot, ExchangedFilesAreNoticed) {
  Rot(disk_).exchange_files(noticed(Mode::kOpenOrMake));
}

TEST_P(SeenRot, APageOfAnotherPlaceIsNoticed) {
  constexpr std::uint64_t kPage = 4096;
  SimulatedDisk whole;
  SeenOptions large = options(whole);
  large.table_ids = 3000;
  large.piece_ids = 9000;
  history_ = SeenHistory();
  {
    auto set = *SeenSet::open(kSetFolder, large);
    ASSERT_TRUE(history_.write_on(*set, 6000).ok());
    ASSERT_TRUE(history_.close(*set).ok());
  }
  int moved_pages = 0;
  for (const fs::path& path : whole.files()) {
    const std::string bytes = *read_whole(whole, path);
    for (std::uint64_t at = 0; at + 2 * kPage <= bytes.size(); at += kPage) {
      SCOPED_TRACE(path.string() + ", page at " + std::to_string(at));
      std::string moved = bytes;
      moved.replace(at, kPage, bytes, at + kPage, kPage);
      if (moved == bytes) continue;
      const auto disk = whole.power_cut({});
      disk->replace(path, moved);
      noticed(Mode::kOpenOrMake)(*disk);
      ++moved_pages;
    }
  }
  EXPECT_GT(moved_pages, 5);
}

TEST_P(SeenRot, ALostManifestIsNoticedEvenIfThereIsNoRunYet) {
  SimulatedDisk disk;
  {
    auto set = *SeenSet::open(kSetFolder, options(disk));
    ASSERT_TRUE(set->insert(nth_id(*set, 1)).ok());
    ASSERT_EQ(set->stats().runs, 0U);
    ASSERT_TRUE(set->close().ok());
  }
  ASSERT_TRUE(disk.remove(kSetFolder / "manifest").ok());
  for (const Mode mode : {Mode::kRead, Mode::kOpenOrMake, Mode::kOpen})
    EXPECT_EQ(examine(disk, mode), Outcome::kRefused);
  EXPECT_TRUE((*SeenSet::open(kSetFolder, options(disk, Mode::kFresh)))->empty());
}

TEST_P(SeenRot, AFreshSetDoesNotTakeTheFolderOfOthers) {
  SimulatedDisk disk;
  ASSERT_TRUE(disk.make_folder(kSetFolder).ok());
  ASSERT_TRUE(disk.create(kSetFolder / "notes.txt").ok());
  ASSERT_TRUE(disk.create(kSetFolder / "00000001.log").ok());
  for (const Mode mode : {Mode::kFresh, Mode::kOpenOrMake}) {
    const auto set = SeenSet::open(kSetFolder, options(disk, mode));
    ASSERT_FALSE(set.ok());
    EXPECT_EQ(set.error().code, Code::kFailedPrecondition);
  }
  EXPECT_TRUE(*disk.exists(kSetFolder / "00000001.log"));
}

}  // namespace
}  // namespace kin::store
