#include "store/kept_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <thread>

#include "base/file.h"
#include "base/testing/simulated_disk.h"

namespace kin::store {
namespace {

namespace fs = std::filesystem;
using Fault = SimulatedDisk::Fault;
using Operation = SimulatedDisk::Operation;

constexpr Fault kNoReads{.only = Operation::kRead, .for_good = true};
constexpr Fault kNoWrites{.only = Operation::kWriteAt, .for_good = true};

RecordId id_of(std::uint64_t number) {
  return RecordId(static_cast<std::uint32_t>(number));
}

std::string value_for(std::uint64_t number) {
  std::mt19937_64 random(number);
  std::string value(random() % 900, ' ');
  for (char& c : value) c = static_cast<char>(random());
  return value;
}

std::map<std::uint64_t, std::string> read_all(const KeptValues& values, std::uint64_t end,
                                              std::uint64_t step = 1) {
  std::vector<RecordId> ids;
  for (std::uint64_t i = 0; i < end; i += step) ids.push_back(id_of(i));
  std::map<std::uint64_t, std::string> result;
  values.get_batch(ids, [&](RecordId id, std::string_view value) {
    result[row_number(id)] = std::string(value);
  });
  return result;
}

class KeptValuesTest : public testing::Test {
 protected:
  fs::path kept() const { return folder_.path() / "values"; }
  fs::path data() const { return kept() / kValuesFileName; }
  TemporaryFolder folder_ = *TemporaryFolder::create();
};

TEST_F(KeptValuesTest, ReturnsValuesOfEverySizeInAnyOrder) {
  const auto values = *KeptValues::open({.write_buffer_bytes = 1'000});
  const std::vector<std::string> samples{"", "x", std::string(999, 'a'),
                                         std::string(1'000'000, 'b'), std::string("\0\xff", 2)};
  for (std::uint64_t i = samples.size(); i-- > 0;)
    ASSERT_TRUE(values->append(id_of(i * 1'000), samples[i]).ok());
  for (std::uint64_t i = 0; i < samples.size(); ++i)
    ASSERT_EQ(**values->get(id_of(i * 1'000)), samples[i]);
  EXPECT_FALSE((*values->get(id_of(17))).has_value());
  EXPECT_TRUE(values->contains(id_of(1'000)));
  EXPECT_EQ(values->len(), samples.size());
}

TEST_F(KeptValuesTest, HoldsAValueOf100Megabytes) {
  const auto values = *KeptValues::open({});
  std::string large;
  large.resize(100'000'000, 'z');
  ASSERT_TRUE(values->append(id_of(1), "before").ok());
  ASSERT_TRUE(values->append(id_of(2), large).ok());
  ASSERT_TRUE(values->append(id_of(3), "after").ok());
  EXPECT_TRUE(**values->get(id_of(2)) == large);
  EXPECT_EQ(read_all(*values, 10).size(), 3U);
  EXPECT_LT(values->stats().memory_bytes, 3'000'000U);
}

TEST_F(KeptValuesTest, ALaterValueReplacesAnEarlierOne) {
  const auto values = *KeptValues::open({});
  ASSERT_TRUE(values->append(id_of(1), "first").ok());
  ASSERT_TRUE(values->append(id_of(1), "second").ok());
  EXPECT_EQ(**values->get(id_of(1)), "second");
  EXPECT_EQ(values->len(), 1U);
}

TEST_F(KeptValuesTest, ABatchVisitsWhatIsThereInTheOrderItWasAppended) {
  const auto values = *KeptValues::open({.write_buffer_bytes = 4'096});
  for (std::uint64_t i = 0; i < 3'000; ++i)
    ASSERT_TRUE(values->append(id_of(2'999 - i), value_for(2'999 - i)).ok());
  std::vector<RecordId> order;
  const std::vector<RecordId> ids{id_of(5), id_of(2'000), id_of(9'999), id_of(1)};
  values->get_batch(ids, [&](RecordId id, std::string_view value) {
    order.push_back(id);
    EXPECT_EQ(value, value_for(row_number(id)));
  });
  EXPECT_THAT(order, testing::ElementsAre(id_of(2'000), id_of(5), id_of(1)));
  const auto all = read_all(*values, 3'000);
  ASSERT_EQ(all.size(), 3'000U);
  for (const auto& [number, value] : all) ASSERT_EQ(value, value_for(number));
}

TEST_F(KeptValuesTest, TheIndexTakesAtMostTwelveBytesAValue) {
  const auto values = *KeptValues::open({.write_buffer_bytes = 65'536});
  for (std::uint64_t i = 1; i <= 300'000; ++i) {
    ASSERT_TRUE(values->append(id_of(i * 7), "v").ok());
    if (i < 100'000 || i % 5'000 != 0) continue;
    ASSERT_LE(values->stats().memory_bytes, 12 * i + 65'536 + (1 << 20)) << i;
  }
  EXPECT_LE(values->stats().memory_bytes, 12 * 300'000U + 65'536 + (1 << 20));
}

TEST_F(KeptValuesTest, ATemporaryStoreLeavesNothingBehind) {
  {
    const auto values =
        *KeptValues::open({.temporary_parent = folder_.path(), .write_buffer_bytes = 64});
    ASSERT_TRUE(values->append(id_of(1), std::string(1'000, 'x')).ok());
  }
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

TEST_F(KeptValuesTest, AKeptStoreReopensWithItsContents) {
  {
    const auto values = *KeptValues::open({.path = kept()});
    for (std::uint64_t i = 0; i < 10'000; ++i)
      ASSERT_TRUE(values->append(id_of(i * 3), value_for(i)).ok());
  }
  const auto values = *KeptValues::open({.path = kept()});
  EXPECT_EQ(values->len(), 10'000U);
  for (std::uint64_t i = 0; i < 10'000; i += 11)
    ASSERT_EQ(**values->get(id_of(i * 3)), value_for(i));
  ASSERT_TRUE(values->append(id_of(1), "more").ok());
  EXPECT_EQ(**values->get(id_of(1)), "more");
}

TEST_F(KeptValuesTest, AKilledStoreReopensAsItWasAtTheLastFlush) {
  const fs::path copy = folder_.path() / "copy";
  {
    const auto values = *KeptValues::open({.path = kept(), .write_buffer_bytes = 100});
    ASSERT_TRUE(values->append(id_of(1), "one").ok());
    ASSERT_TRUE(values->flush().ok());
    ASSERT_TRUE(values->append(id_of(1), "another").ok());
    ASSERT_TRUE(values->append(id_of(2), std::string(1'000, 'x')).ok());
    fs::copy(kept(), copy);
  }
  const auto values = *KeptValues::open({.path = copy});
  EXPECT_EQ(values->len(), 1U);
  EXPECT_EQ(**values->get(id_of(1)), "one");
}

TEST_F(KeptValuesTest, ClearLeavesNothingAlsoOnTheDevice) {
  {
    const auto values = *KeptValues::open({.path = kept()});
    ASSERT_TRUE(values->append(id_of(1), "one").ok());
    ASSERT_TRUE(values->flush().ok());
    ASSERT_TRUE(values->clear().ok());
    EXPECT_EQ(values->len(), 0U);
    EXPECT_FALSE((*values->get(id_of(1))).has_value());
    EXPECT_EQ(fs::file_size(data()), kValuesHeaderBytes);
  }
  EXPECT_EQ((*KeptValues::open({.path = kept()}))->len(), 0U);
}

TEST_F(KeptValuesTest, RefusesAFileOfSomebodyElseAndADamagedIndex) {
  fs::create_directories(kept());
  ASSERT_TRUE(write_file_atomically(data(), "a file of the user's own").ok());
  EXPECT_EQ(KeptValues::open({.path = kept()}).error().code, Code::kFailedPrecondition);
  EXPECT_EQ(*read_file(data()), "a file of the user's own");
  fs::remove(data());
  {
    ASSERT_TRUE((*KeptValues::open({.path = kept()}))->append(id_of(1), "x").ok());
  }
  std::string index = *read_file(kept() / kValueIndexFileName);
  index.back() ^= 1;
  ASSERT_TRUE(write_file_atomically(kept() / kValueIndexFileName, index).ok());
  EXPECT_EQ(KeptValues::open({.path = kept()}).error().code, Code::kDataLoss);
}

TEST_F(KeptValuesTest, EveryFlippedByteOfAFrameIsCountedNeverReturned) {
  {
    ASSERT_TRUE((*KeptValues::open({.path = kept()}))->append(id_of(1), "the value").ok());
  }
  const std::string good = *read_file(data());
  for (std::size_t at = kValuesHeaderBytes; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x40);
    ASSERT_TRUE(write_file_atomically(data(), bad).ok());
    const auto values = *KeptValues::open({.path = kept()});
    ASSERT_EQ(values->get(id_of(1)).error().code, Code::kDataLoss) << at;
    ASSERT_TRUE(read_all(*values, 5).empty());
    ASSERT_EQ(values->stats().read_errors, 2U);
  }
}

TEST_F(KeptValuesTest, ATruncatedFileCostsOnlyWhatItLost) {
  {
    const auto values = *KeptValues::open({.path = kept()});
    for (std::uint64_t i = 0; i < 100; ++i)
      ASSERT_TRUE(values->append(id_of(i), std::string(100, 'x')).ok());
  }
  fs::resize_file(data(), kValuesHeaderBytes + 5'850);
  const auto values = *KeptValues::open({.path = kept()});
  EXPECT_EQ(read_all(*values, 100).size(), 50U);
  EXPECT_EQ(values->stats().read_errors, 50U);
}

TEST_F(KeptValuesTest, FailedReadsAndWritesAreReportedAndLoseNothing) {
  SimulatedDisk disk;
  const auto values = *KeptValues::open({.write_buffer_bytes = 200, .disk = &disk});
  ASSERT_TRUE(values->append(id_of(1), std::string(150, 'a')).ok());
  disk.fail(kNoWrites);
  EXPECT_FALSE(values->append(id_of(2), std::string(150, 'b')).ok());
  EXPECT_FALSE(values->append(id_of(3), std::string(1'000, 'c')).ok());
  EXPECT_FALSE(values->contains(id_of(2)));
  disk.fail(std::nullopt);
  ASSERT_TRUE(values->append(id_of(2), std::string(150, 'b')).ok());
  ASSERT_TRUE(values->append(id_of(3), std::string(1'000, 'c')).ok());
  disk.fail(kNoReads);
  EXPECT_TRUE(read_all(*values, 4).empty());
  EXPECT_EQ(values->stats().read_errors, 3U);
  disk.fail(std::nullopt);
  const auto all = read_all(*values, 4);
  EXPECT_EQ(all.at(1), std::string(150, 'a'));
  EXPECT_EQ(all.at(2), std::string(150, 'b'));
  EXPECT_EQ(all.at(3), std::string(1'000, 'c'));
}

TEST_F(KeptValuesTest, ThreadsMayAppendAndReadTogether) {
  const auto values = *KeptValues::open({.write_buffer_bytes = 10'000});
  std::atomic<int> wrong = 0;
  const auto work = [&](std::uint64_t begin) {
    for (std::uint64_t i = begin; i < begin + 2'000; ++i) {
      if (!values->append(id_of(i), value_for(i)).ok()) ++wrong;
      const auto back = values->get(id_of(begin + (i - begin) / 2));
      if (!back.ok() || **back != value_for(begin + (i - begin) / 2)) ++wrong;
    }
  };
  std::thread first(work, 0);
  std::thread second(work, 1'000'000);
  first.join();
  second.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(values->len(), 4'000U);
}

}  // namespace
}  // namespace kin::store
