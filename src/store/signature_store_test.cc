#include "store/signature_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <thread>

#include "base/file.h"
#include "base/hash.h"
#include "base/testing/simulated_disk.h"
#include "store/signatures/format.h"

namespace kin::store {
namespace {

namespace fs = std::filesystem;
using Fault = SimulatedDisk::Fault;
using Operation = SimulatedDisk::Operation;
using testing::HasSubstr;
using Store = TieredSignatureStore;

constexpr std::uint64_t kPage = 64;
constexpr std::uint64_t kPageBytes = kPage * 128;

constexpr Fault kNoReads{.only = Operation::kRead, .for_good = true};
constexpr Fault kNoWrites{.only = Operation::kWriteAt, .for_good = true};

RecordId id_of(std::uint64_t number) {
  return RecordId(static_cast<std::uint32_t>(number));
}

Signature signature_for(std::uint64_t number, std::size_t width = 128, std::uint64_t version = 0) {
  Signature signature(width);
  for (std::size_t i = 0; i < width; ++i) {
    signature[i] = static_cast<std::uint8_t>(mix64(number * 1'000 + i + version * 0x1234567));
  }
  return signature;
}

class SignatureStoreTest : public testing::Test {
 protected:
  fs::path kept() const { return folder_.path() / "signatures"; }
  fs::path pages() const { return kept() / kPagesFileName; }

  std::unique_ptr<Store> open_kept(std::uint64_t hot = 640) const {
    return *Store::open({.max_hot_signatures = hot, .path = kept()});
  }

  static void fill(Store& store, std::uint64_t begin, std::uint64_t end) {
    std::vector<RecordId> ids;
    std::vector<std::uint8_t> signatures;
    for (std::uint64_t i = begin; i < end; ++i) {
      ids.push_back(id_of(i));
      const Signature one = signature_for(i, store.signature_bytes());
      signatures.insert(signatures.end(), one.begin(), one.end());
    }
    ASSERT_TRUE(store.insert_batch(ids, signatures).ok());
  }

  static void flip_byte(const fs::path& path, std::uint64_t offset) {
    File file = *File::open_to_update(path);
    char byte = 0;
    ASSERT_TRUE(file.read_at(offset, &byte, 1).ok());
    byte = static_cast<char>(byte ^ 0x10);
    ASSERT_TRUE(file.write_at(offset, std::string_view(&byte, 1)).ok());
  }

  TemporaryFolder folder_ = *TemporaryFolder::create();
};

// get_batch() for every id in [0, end), as a map of what was found.
std::map<std::uint64_t, Signature> read_all(const Store& store, std::uint64_t end,
                                            std::uint64_t step = 1) {
  std::vector<RecordId> ids;
  for (std::uint64_t i = 0; i < end; i += step) ids.push_back(id_of(i));
  std::vector<std::uint8_t> signatures(ids.size() * store.signature_bytes());
  std::vector<std::uint8_t> found(ids.size());
  EXPECT_TRUE(store.get_batch(ids, signatures, found).ok());
  std::map<std::uint64_t, Signature> result;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto* at = signatures.data() + i * store.signature_bytes();
    if (found[i] != 0) result[row_number(ids[i])] = Signature(at, at + store.signature_bytes());
  }
  return result;
}

TEST_F(SignatureStoreTest, ReturnsWhatWasInserted) {
  const auto store = *Store::open({});
  ASSERT_TRUE(store->insert(id_of(7), signature_for(7)).ok());
  EXPECT_EQ(**store->get(id_of(7)), signature_for(7));
  EXPECT_TRUE(store->contains(id_of(7)));
  EXPECT_EQ(store->len(), 1U);
}

TEST_F(SignatureStoreTest, AbsenceIsNotAnError) {
  const auto store = *Store::open({});
  ASSERT_TRUE(store->insert(id_of(7), signature_for(7)).ok());
  const auto neighbour = store->get(id_of(8));
  ASSERT_TRUE(neighbour.ok());
  EXPECT_FALSE(neighbour->has_value());
  EXPECT_FALSE(store->contains(id_of(4'000'000'000)));
  EXPECT_FALSE((*store->get(kNoRecord)).has_value());
}

TEST_F(SignatureStoreTest, InsertingAgainReplaces) {
  const auto store = *Store::open({});
  ASSERT_TRUE(store->insert(id_of(7), signature_for(7)).ok());
  ASSERT_TRUE(store->insert(id_of(7), signature_for(7, 128, 1)).ok());
  EXPECT_EQ(**store->get(id_of(7)), signature_for(7, 128, 1));
  EXPECT_EQ(store->len(), 1U);
}

TEST_F(SignatureStoreTest, TheHotPartStaysWithinItsBoundAndTheRestComesBackFromDisk) {
  const auto store = *Store::open({.max_hot_signatures = 640});
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    ASSERT_TRUE(store->insert(id_of(i), signature_for(i)).ok());
    ASSERT_LE(store->stats().hot, 640U);
  }
  const auto stats = store->stats();
  EXPECT_EQ(stats.hot + stats.cold, 10'000U);
  EXPECT_GE(stats.cold, 9'360U);
  for (std::uint64_t i = 0; i < 10'000; i += 37)
    ASSERT_EQ(**store->get(id_of(i)), signature_for(i));
  EXPECT_GT(store->stats().cold_reads, 0U);
  EXPECT_EQ(store->stats().cold_read_errors, 0U);
}

TEST_F(SignatureStoreTest, TheNewestSignaturesAreTheHotOnes) {
  const auto store = *Store::open({.max_hot_signatures = 640});
  fill(*store, 0, 10'000);
  for (std::uint64_t i = 9'600; i < 10'000; ++i) ASSERT_TRUE(store->get(id_of(i)).ok());
  EXPECT_EQ(store->stats().cold_reads, 0U);
}

TEST_F(SignatureStoreTest, PagesThatAreReadGetASecondChance) {
  const auto store = *Store::open({.max_hot_signatures = 640});
  fill(*store, 0, 640);
  ASSERT_TRUE(store->get(id_of(0)).ok());
  fill(*store, 640, 704);
  ASSERT_TRUE(store->get(id_of(1)).ok());
  EXPECT_EQ(store->stats().cold_reads, 0U);
  ASSERT_TRUE(store->get(id_of(64)).ok());
  EXPECT_EQ(store->stats().cold_reads, 1U);
}

TEST_F(SignatureStoreTest, HalfFilledPagesAreMergedWithWhatWasEvicted) {
  const auto store = *Store::open({.max_hot_signatures = 64});
  for (int round = 0; round < 64; ++round) {
    for (std::uint64_t page = 0; page < 20; ++page) {
      const std::uint64_t number = page * kPage + static_cast<std::uint64_t>(round);
      ASSERT_TRUE(store->insert(id_of(number), signature_for(number)).ok());
    }
  }
  const auto all = read_all(*store, 1'280);
  ASSERT_EQ(all.size(), 1'280U);
  for (const auto& [number, signature] : all) ASSERT_EQ(signature, signature_for(number));
  EXPECT_LE(store->stats().file_bytes, kPagesHeaderBytes + 20 * kPageBytes);
}

TEST_F(SignatureStoreTest, ABatchReadsNeighboursInOneCall) {
  const auto store = *Store::open({.max_hot_signatures = 64});
  fill(*store, 0, kPage * 200);
  EXPECT_EQ(read_all(*store, kPageBytes).size(), kPageBytes);
  EXPECT_EQ(store->stats().cold_reads, 1U);
}

TEST_F(SignatureStoreTest, ABatchTellsMissingFromPresent) {
  const auto store = *Store::open({.max_hot_signatures = 64});
  for (std::uint64_t i = 0; i < 5'000; i += 3)
    ASSERT_TRUE(store->insert(id_of(i), signature_for(i)).ok());
  const auto all = read_all(*store, 6'000);
  EXPECT_EQ(all.size(), store->len());
  for (const auto& [number, signature] : all) {
    ASSERT_EQ(number % 3, 0U);
    ASSERT_EQ(signature, signature_for(number));
  }
}

TEST_F(SignatureStoreTest, ListsTheIdsThereAre) {
  const auto store = *Store::open({.max_hot_signatures = 64});
  std::vector<RecordId> expected;
  for (std::uint64_t i = 3; i < 300'000; i += 1'001) {
    ASSERT_TRUE(store->insert(id_of(i), signature_for(i)).ok());
    expected.push_back(id_of(i));
  }
  std::vector<RecordId> listed;
  for (RecordId next{0};;) {
    const auto ids = store->ids_from(next, 7);
    if (ids.empty()) break;
    ASSERT_LE(ids.size(), 7U);
    listed.insert(listed.end(), ids.begin(), ids.end());
    next = id_of(row_number(ids.back()) + 1);
  }
  EXPECT_EQ(listed, expected);
}

TEST_F(SignatureStoreTest, RefusesWrongSizesAndUnsortedBatches) {
  const auto store = *Store::open({});
  EXPECT_EQ(store->insert(id_of(1), Signature(127)).error().code, Code::kInvalidArgument);
  EXPECT_EQ(store->insert(kNoRecord, signature_for(1)).error().code, Code::kInvalidArgument);
  const std::vector<RecordId> unsorted{id_of(5), id_of(3)};
  std::vector<std::uint8_t> signatures(256);
  std::vector<std::uint8_t> found(2);
  EXPECT_EQ(store->get_batch(unsorted, signatures, found).error().code, Code::kInvalidArgument);
  EXPECT_FALSE(Store::open({.signature_bytes = 0}).ok());
}

TEST_F(SignatureStoreTest, RemovedSignaturesAreGoneHotOrCold) {
  const auto store = *Store::open({.max_hot_signatures = 64});
  fill(*store, 0, 640);
  EXPECT_TRUE(store->remove(id_of(3)));
  EXPECT_FALSE(store->remove(id_of(3)));
  EXPECT_TRUE(store->remove(id_of(639)));
  EXPECT_FALSE(store->contains(id_of(3)));
  EXPECT_FALSE((*store->get(id_of(3))).has_value());
  EXPECT_EQ(store->len(), 638U);
  EXPECT_EQ(read_all(*store, 640).size(), 638U);
  ASSERT_TRUE(store->insert(id_of(3), signature_for(3)).ok());
  EXPECT_EQ(**store->get(id_of(4)), signature_for(4));
}

TEST_F(SignatureStoreTest, SpaceOfRemovedPagesIsUsedAgain) {
  const auto store = *Store::open({.max_hot_signatures = 64});
  fill(*store, 0, 6'400);
  const std::uint64_t before = store->stats().file_bytes;
  for (std::uint64_t i = 0; i < 6'400; ++i) store->remove(id_of(i));
  EXPECT_EQ(store->len(), 0U);
  fill(*store, 10'000, 16'400);
  EXPECT_LE(store->stats().file_bytes, before + 2 * kPageBytes);
}

TEST_F(SignatureStoreTest, ClearLeavesNothingAndCanBeFilledAgain) {
  const auto store = *Store::open({.max_hot_signatures = 64});
  fill(*store, 0, 640);
  ASSERT_TRUE(store->clear().ok());
  EXPECT_EQ(store->len(), 0U);
  EXPECT_FALSE(store->contains(id_of(0)));
  EXPECT_EQ(store->stats().file_bytes, kPagesHeaderBytes);
  fill(*store, 0, 640);
  EXPECT_EQ(read_all(*store, 640).size(), 640U);
}

TEST_F(SignatureStoreTest, ATemporaryStoreLeavesNothingBehind) {
  {
    const auto store = *Store::open({.max_hot_signatures = 64, .temporary_parent = folder_.path()});
    fill(*store, 0, 640);
    EXPECT_EQ(read_all(*store, 640).size(), 640U);
  }
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

TEST_F(SignatureStoreTest, AKeptStoreReopensWithItsContents) {
  {
    const auto store = open_kept(64);
    fill(*store, 0, 1'000);
    store->remove(id_of(5));
  }
  const auto store = open_kept(64);
  EXPECT_EQ(store->len(), 999U);
  EXPECT_EQ(store->stats().cold, 999U);
  for (const auto& [number, signature] : read_all(*store, 1'000))
    ASSERT_EQ(signature, signature_for(number));
  fill(*store, 1'000, 2'000);
  EXPECT_EQ(read_all(*store, 2'000).size(), 1'999U);
}

TEST_F(SignatureStoreTest, AKilledStoreReopensAsItWasAtTheLastFlush) {
  const fs::path copy = folder_.path() / "copy";
  {
    const auto store = open_kept(64);
    fill(*store, 0, 1'000);
    ASSERT_TRUE(store->flush().ok());
    for (std::uint64_t i = 0; i < 1'000; ++i) {
      ASSERT_TRUE(store->insert(id_of(i), signature_for(i, 128, 1)).ok());
    }
    store->remove(id_of(0));
    fs::copy(kept(), copy);
  }
  const auto store = *Store::open({.path = copy});
  const auto all = read_all(*store, 1'000);
  ASSERT_EQ(all.size(), 1'000U);
  for (const auto& [number, signature] : all) ASSERT_EQ(signature, signature_for(number));
}

TEST_F(SignatureStoreTest, RewritingBetweenFlushesDoesNotGrowTheFileWithoutBound) {
  const auto store = open_kept(64);
  fill(*store, 0, 6'400);
  ASSERT_TRUE(store->flush().ok());
  for (int round = 0; round < 10; ++round) fill(*store, 0, 6'400);
  EXPECT_LE(store->stats().file_bytes, kPagesHeaderBytes + 200 * kPageBytes);
  ASSERT_TRUE(store->flush().ok());
  for (int round = 0; round < 3; ++round) {
    fill(*store, 0, 6'400);
    ASSERT_TRUE(store->flush().ok());
  }
  EXPECT_LE(fs::file_size(pages()), kPagesHeaderBytes + 200 * kPageBytes);
}

TEST_F(SignatureStoreTest, RefusesAStoreOfOtherParametersOrOfSomebodyElse) {
  {
    open_kept();
  }
  const auto other = Store::open({.signature_bytes = 64, .path = kept()});
  EXPECT_EQ(other.error().code, Code::kFailedPrecondition);
  EXPECT_THAT(other.error().message, HasSubstr("128"));
  ASSERT_TRUE(write_file_atomically(pages(), "a file of the user's own, not to be touched").ok());
  EXPECT_EQ(Store::open({.path = kept()}).error().code, Code::kFailedPrecondition);
  EXPECT_EQ(*read_file(pages()), "a file of the user's own, not to be touched");
}

TEST_F(SignatureStoreTest, TwoStoresCannotShareAPath) {
  const auto first = open_kept();
  EXPECT_EQ(Store::open({.path = kept()}).error().code, Code::kFailedPrecondition);
}

TEST_F(SignatureStoreTest, AFlippedByteCostsItsPageAndIsCountedNeverReturned) {
  {
    fill(*open_kept(), 0, 640);
  }
  flip_byte(pages(), kPagesHeaderBytes + 3 * kPageBytes + 17);
  const auto store = open_kept();
  const auto all = read_all(*store, 640);
  EXPECT_EQ(all.size(), 576U);
  EXPECT_FALSE(all.contains(3 * kPage));
  for (const auto& [number, signature] : all) ASSERT_EQ(signature, signature_for(number));
  EXPECT_EQ(store->stats().cold_read_errors, 64U);
  EXPECT_EQ(store->get(id_of(3 * kPage)).error().code, Code::kDataLoss);
  EXPECT_EQ(store->stats().cold_read_errors, 65U);
}

TEST_F(SignatureStoreTest, SwappedPagesAreFoundOut) {
  {
    fill(*open_kept(), 0, 640);
  }
  {
    File file = *File::open_to_update(pages());
    std::string first(kPageBytes, ' ');
    std::string second = first;
    ASSERT_TRUE(file.read_at(kPagesHeaderBytes, first.data(), first.size()).ok());
    ASSERT_TRUE(file.read_at(kPagesHeaderBytes + first.size(), second.data(), second.size()).ok());
    ASSERT_TRUE(file.write_at(kPagesHeaderBytes, second + first).ok());
  }
  EXPECT_EQ(read_all(*open_kept(), 640).size(), 640U - 128);
}

TEST_F(SignatureStoreTest, ATruncatedFileCostsWhatItLost) {
  {
    fill(*open_kept(), 0, 640);
  }
  fs::resize_file(pages(), kPagesHeaderBytes + 5 * kPageBytes + 100);
  const auto store = open_kept();
  EXPECT_EQ(read_all(*store, 640).size(), 5 * kPage);
  EXPECT_EQ(store->stats().cold_read_errors, 5 * kPage);
}

TEST_F(SignatureStoreTest, AnyDamageToTheManifestRefusesTheStore) {
  {
    fill(*open_kept(), 0, 640);
  }
  const fs::path manifest = kept() / kManifestFileName;
  const auto size = fs::file_size(manifest);
  for (std::uint64_t at = 0; at < size; at += 7) {
    flip_byte(manifest, at);
    ASSERT_FALSE(Store::open({.path = kept()}).ok()) << at;
    flip_byte(manifest, at);
  }
  EXPECT_EQ(open_kept()->len(), 640U);
}

TEST_F(SignatureStoreTest, AFailedReadIsCountedAndTheNextOneWorks) {
  SimulatedDisk disk;
  const auto store = *Store::open({.max_hot_signatures = 64, .disk = &disk});
  fill(*store, 0, 640);
  disk.fail(kNoReads);
  EXPECT_TRUE(read_all(*store, 512).empty());
  EXPECT_EQ(store->stats().cold_read_errors, 512U);
  EXPECT_FALSE(store->get(id_of(0)).ok());
  disk.fail(std::nullopt);
  EXPECT_EQ(read_all(*store, 512).size(), 512U);
}

TEST_F(SignatureStoreTest, AFailedLargeReadIsTriedPageByPage) {
  SimulatedDisk disk;
  const auto store = *Store::open({.max_hot_signatures = 64, .disk = &disk});
  fill(*store, 0, 640);
  disk.fail(Fault{.only = Operation::kRead});
  EXPECT_EQ(read_all(*store, 512).size(), 512U);
  EXPECT_EQ(store->stats().cold_read_errors, 0U);
}

TEST_F(SignatureStoreTest, AFailedWriteIsReportedAndLosesNothing) {
  SimulatedDisk disk;
  const auto store = *Store::open({.max_hot_signatures = 640, .disk = &disk});
  fill(*store, 0, 640);
  disk.fail(kNoWrites);
  EXPECT_EQ(store->insert(id_of(640), signature_for(640)).error().code, Code::kUnavailable);
  EXPECT_FALSE(store->contains(id_of(640)));
  EXPECT_EQ(read_all(*store, 640).size(), 640U);
  disk.fail(std::nullopt);
  fill(*store, 640, 6'400);
  const auto all = read_all(*store, 6'400);
  ASSERT_EQ(all.size(), 6'400U);
  for (const auto& [number, signature] : all) ASSERT_EQ(signature, signature_for(number));
}

TEST_F(SignatureStoreTest, EveryWriteMayFailOnceWithoutHarm) {
  for (std::uint64_t k = 1; k < 11; ++k) {
    SimulatedDisk disk;
    const auto store = *Store::open({.max_hot_signatures = 128, .disk = &disk});
    disk.fail(Fault{.nth = k, .only = Operation::kWriteAt});
    int failures = 0;
    for (std::uint64_t i = 0; i < 2'000; ++i) {
      if (store->insert(id_of(i), signature_for(i)).ok()) continue;
      ++failures;
      ASSERT_TRUE(store->insert(id_of(i), signature_for(i)).ok());
    }
    EXPECT_EQ(failures, 1);
    const auto all = read_all(*store, 2'000);
    ASSERT_EQ(all.size(), 2'000U);
    for (const auto& [number, signature] : all) ASSERT_EQ(signature, signature_for(number));
  }
}

TEST_F(SignatureStoreTest, APageThatCannotBeReadTakesNoMoreAndLosesNothing) {
  SimulatedDisk disk;
  const auto store = *Store::open({.max_hot_signatures = 64, .disk = &disk});
  fill(*store, 0, 32);
  fill(*store, 64, 128);
  disk.fail(kNoReads);
  EXPECT_EQ(store->insert(id_of(40), signature_for(40)).error().code, Code::kUnavailable);
  EXPECT_FALSE(store->contains(id_of(40)));
  disk.fail(std::nullopt);
  ASSERT_TRUE(store->insert(id_of(40), signature_for(40)).ok());
  EXPECT_EQ(store->stats().cold_read_errors, 0U);
  EXPECT_EQ(store->len(), 97U);
  EXPECT_EQ(**store->get(id_of(0)), signature_for(0));
}

TEST_F(SignatureStoreTest, ADamagedPageIsCountedAndTakesNewSignatures) {
  {
    fill(*open_kept(), 0, 32);
  }
  flip_byte(pages(), kPagesHeaderBytes + 17);
  const auto store = open_kept();
  ASSERT_TRUE(store->insert(id_of(40), signature_for(40)).ok());
  EXPECT_EQ(store->stats().cold_read_errors, 32U);
  EXPECT_EQ(store->len(), 1U);
  EXPECT_FALSE(store->contains(id_of(0)));
  EXPECT_EQ(**store->get(id_of(40)), signature_for(40));
}

TEST_F(SignatureStoreTest, WritersOfFarApartRangesAndReadersMayRunTogether) {
  const auto store = *Store::open({.max_hot_signatures = 4'096});
  constexpr std::uint64_t kEach = 40'960;
  std::atomic<int> wrong = 0;
  const auto writer = [&](std::uint64_t begin) {
    for (std::uint64_t at = begin; at < begin + kEach; at += 2'048) fill(*store, at, at + 2'048);
  };
  const auto reader = [&] {
    for (int round = 0; round < 20; ++round) {
      for (const auto& [number, signature] : read_all(*store, 1'000'000 + kEach, 997)) {
        wrong += signature != signature_for(number);
      }
    }
  };
  std::thread first(writer, 0);
  std::thread second(writer, 1'000'000);
  std::thread third(reader);
  first.join();
  second.join();
  third.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(store->len(), 2 * kEach);
  EXPECT_EQ(store->stats().cold_read_errors, 0U);
}

TEST_F(SignatureStoreTest, HoldsManyMoreThanItsHotPartInBoundedMemory) {
  constexpr std::uint64_t kMany = 300'000;
  const auto store = *Store::open({.signature_bytes = 16, .max_hot_signatures = 10'000});
  for (std::uint64_t at = 0; at < kMany; at += 2'000) fill(*store, at, at + 2'000);
  EXPECT_EQ(store->len(), kMany);
  EXPECT_LE(store->stats().hot, 10'048U);
  EXPECT_LE(store->stats().memory_bytes,
            std::uint64_t{10'048} * 17 + kMany / 2 + (std::size_t{1} << 20) + 65'536);
  for (const auto& [number, signature] : read_all(*store, kMany, 75))
    ASSERT_EQ(signature, signature_for(number, 16));
}

}  // namespace
}  // namespace kin::store
