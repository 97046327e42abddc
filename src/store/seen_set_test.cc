#include "store/seen_set.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "base/file.h"

namespace kin::store {
namespace {

namespace fs = std::filesystem;

class SeenSetTest : public testing::Test {
 protected:
  SeenSetTest() : folder_(std::move(*TemporaryFolder::create())) {}
  fs::path path() const { return folder_.path() / "set"; }

  std::unique_ptr<SeenSet> open(SeenOptions options = {}) {
    auto set = SeenSet::open(path(), options);
    EXPECT_TRUE(set.ok()) << (set.ok() ? "" : set.error().message);
    return set.ok() ? std::move(*set) : nullptr;
  }

  TemporaryFolder folder_;
};

// Small enough that a few thousand ids make logs, runs and merges.
SeenOptions small() {
  return {.table_ids = 100, .piece_ids = 500, .background = false};
}

std::vector<SeenId> numbers(std::uint64_t from, std::uint64_t to) {
  std::vector<SeenId> ids;
  for (std::uint64_t i = from; i < to; ++i) ids.push_back(SeenId::number(i));
  return ids;
}

std::uint64_t insert_all(SeenSet& set, std::span<const SeenId> ids) {
  std::vector<std::uint8_t> was_new(ids.size());
  const Status status = set.insert(ids, was_new);
  EXPECT_TRUE(status.ok()) << (status.ok() ? "" : status.error().message);
  return static_cast<std::uint64_t>(std::count(was_new.begin(), was_new.end(), 1));
}

std::uint64_t count_found(SeenSet& set, std::span<const SeenId> ids) {
  std::vector<std::uint8_t> found(ids.size());
  const Status status = set.contains(ids, found);
  EXPECT_TRUE(status.ok()) << (status.ok() ? "" : status.error().message);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    EXPECT_EQ(*set.contains(ids[i]), found[i] != 0) << i;
  }
  return static_cast<std::uint64_t>(std::count(found.begin(), found.end(), 1));
}

TEST_F(SeenSetTest, AnIdIsNewOnce) {
  const auto set = open();
  EXPECT_TRUE(*set->insert(SeenId::number(7)));
  EXPECT_FALSE(*set->insert(SeenId::number(7)));
  EXPECT_TRUE(*set->contains(SeenId::number(7)));
  EXPECT_FALSE(*set->contains(SeenId::number(8)));
  EXPECT_EQ(set->len(), 1U);
}

TEST_F(SeenSetTest, ARepeatWithinABatchIsNotNew) {
  const auto set = open();
  const std::vector<SeenId> ids = {SeenId::number(1), SeenId::number(2), SeenId::number(1)};
  std::vector<std::uint8_t> was_new(3);
  ASSERT_TRUE(set->insert(ids, was_new).ok());
  EXPECT_EQ(was_new, (std::vector<std::uint8_t>{1, 1, 0}));
}

TEST_F(SeenSetTest, ZeroAndTheLargestNumberAreIdsLikeOthers) {
  const std::vector<SeenId> ids = {SeenId::number(0), SeenId::number(~std::uint64_t{0})};
  {
    const auto set = open(small());
    EXPECT_EQ(insert_all(*set, ids), 2U);
    EXPECT_EQ(insert_all(*set, ids), 0U);
    ASSERT_TRUE(set->flush().ok());
    EXPECT_EQ(count_found(*set, ids), 2U);
    ASSERT_TRUE(set->close().ok());
  }
  EXPECT_EQ(count_found(*open(small()), ids), 2U);
}

TEST_F(SeenSetTest, WhatWasInsertedIsThereThroughRunsMergesAndReopening) {
  const auto ids = numbers(0, 5000);
  const auto others = numbers(5000, 10000);
  {
    const auto set = open(small());
    EXPECT_EQ(insert_all(*set, ids), 5000U);
    EXPECT_EQ(insert_all(*set, ids), 0U);
    EXPECT_EQ(count_found(*set, ids), 5000U);
    EXPECT_EQ(count_found(*set, others), 0U);
    EXPECT_GT(set->stats().merges, 0U);
    EXPECT_GT(set->stats().pieces, 1U);
    ASSERT_TRUE(set->close().ok());
  }
  const auto set = open(small());
  EXPECT_EQ(set->len(), 5000U);
  EXPECT_EQ(count_found(*set, ids), 5000U);
  EXPECT_EQ(count_found(*set, others), 0U);
  EXPECT_TRUE(set->verify().ok());
}

TEST_F(SeenSetTest, ASettledSetIsOneRun) {
  const auto set = open(small());
  const auto ids = numbers(0, 7'350);
  insert_all(*set, ids);
  ASSERT_TRUE(set->flush().ok());
  ASSERT_GT(set->stats().runs, 1U);
  ASSERT_TRUE(set->settle().ok());
  EXPECT_EQ(set->stats().runs, 1U);
  EXPECT_EQ(count_found(*set, ids), ids.size());
  EXPECT_EQ(count_found(*set, numbers(7'350, 8'000)), 0U);
}

TEST_F(SeenSetTest, ASetThatIsLeftAloneTidiesUp) {
  SeenOptions options = small();
  options.background = true;
  const auto set = open(options);
  // Sizes for which no merge is due by themselves.
  std::uint64_t next = 0;
  for (const std::uint64_t count : {90U, 20U, 4U}) {
    insert_all(*set, numbers(next, next + count));
    next += count;
    ASSERT_TRUE(set->flush().ok());
  }
  ASSERT_EQ(set->stats().flushes, 3U);  // three runs, unless a second has passed already
  const auto patience = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (set->stats().runs > 2 && std::chrono::steady_clock::now() < patience)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(set->stats().runs, 2U);
  EXPECT_EQ(count_found(*set, numbers(0, next)), next);
}

TEST_F(SeenSetTest, StringsAreIds) {
  SeenOptions options = small();
  options.kind = IdKind::kText;
  {
    const auto set = open(options);
    for (int i = 0; i < 2000; ++i) {
      EXPECT_TRUE(*set->insert(set->id_of("https://example.org/" + std::to_string(i))));
    }
    ASSERT_TRUE(set->close().ok());
  }
  const auto set = open(small());
  EXPECT_EQ(set->kind(), IdKind::kText);
  for (int i = 0; i < 2000; ++i) {
    EXPECT_TRUE(*set->contains(set->id_of("https://example.org/" + std::to_string(i))));
    EXPECT_FALSE(*set->contains(set->id_of("https://example.com/" + std::to_string(i))));
  }
  EXPECT_TRUE(set->verify().ok());
}

TEST_F(SeenSetTest, EveryIdIsVisitedOnce) {
  const auto set = open(small());
  insert_all(*set, numbers(0, 3333));
  std::set<std::uint64_t> visited;
  ASSERT_TRUE(set->for_each([&](SeenId id) -> Status {
                   EXPECT_TRUE(visited.insert(id.number()).second);
                   return Done{};
                 })
                  .ok());
  EXPECT_EQ(visited.size(), 3333U);
  EXPECT_EQ(*visited.rbegin(), 3332U);
}

TEST_F(SeenSetTest, ASecondWriterIsRefusedAndAReaderIsNot) {
  const auto set = open(small());
  insert_all(*set, numbers(0, 1234));
  ASSERT_TRUE(set->commit().ok());
  const auto second = SeenSet::open(path(), small());
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, Code::kFailedPrecondition);
  EXPECT_NE(second.error().message.find("open for writing"), std::string::npos);
  const auto reader = open({.mode = SeenOptions::Mode::kRead});
  EXPECT_EQ(count_found(*reader, numbers(0, 2000)), 1234U);
  EXPECT_FALSE(reader->insert(SeenId::number(1)).ok());
  EXPECT_EQ(reader->stats().log_bytes, set->stats().log_bytes);
}

TEST_F(SeenSetTest, AFreshSetForgets) {
  {
    const auto set = open(small());
    insert_all(*set, numbers(0, 1000));
  }
  SeenOptions options = small();
  options.mode = SeenOptions::Mode::kFresh;
  options.kind = IdKind::kText;
  {
    const auto set = open(options);
    EXPECT_TRUE(set->empty());
    EXPECT_TRUE(*set->insert(set->id_of("a")));
  }
  const auto set = open(small());
  EXPECT_EQ(set->len(), 1U);
  EXPECT_TRUE(*set->contains(set->id_of("a")));
}

TEST_F(SeenSetTest, WhatIsNotASetIsLeftAlone) {
  const auto missing = SeenSet::open(path(), {.mode = SeenOptions::Mode::kRead});
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, Code::kNotFound);
  EXPECT_FALSE(*file_exists(path()));
  fs::create_directory(path());
  ASSERT_TRUE(write_file_atomically(path() / "letter.txt", "dear").ok());
  const auto other = SeenSet::open(path(), {});
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().code, Code::kFailedPrecondition);
  EXPECT_NE(other.error().message.find("letter.txt"), std::string::npos);
}

TEST_F(SeenSetTest, TheKindIsKept) {
  {
    const auto set = open({.kind = IdKind::kText});
  }
  const auto other = SeenSet::open(path(), {.kind = IdKind::kNumber});
  ASSERT_FALSE(other.ok());
  EXPECT_NE(other.error().message.find("strings"), std::string::npos);
}

TEST_F(SeenSetTest, FiltersThatDoNotFitAreReadFromDisk) {
  SeenOptions options{.max_memory = kSeenLeastMemory, .background = false};
  const auto set = open(options);
  constexpr std::uint64_t kIds = 3'000'000;
  for (std::uint64_t from = 0; from < kIds; from += 100'000) {
    EXPECT_EQ(insert_all(*set, numbers(from, from + 100'000)), 100'000U);
  }
  const SeenStats stats = set->stats();
  EXPECT_LT(stats.resident_filter_bytes, stats.filter_bytes);
  EXPECT_LE(stats.memory_bytes, kSeenLeastMemory);
  EXPECT_GT(stats.filter_page_reads, 0U);
  EXPECT_EQ(count_found(*set, numbers(kIds - 1000, kIds + 1000)), 1000U);
}

TEST_F(SeenSetTest, ALostFilterIsMadeAgain) {
  {
    const auto set = open(small());
    insert_all(*set, numbers(0, 1000));
    ASSERT_TRUE(set->flush().ok());
  }
  for (const auto& entry : fs::directory_iterator(path())) {
    if (entry.path().extension() == ".filter") fs::remove(entry.path());
  }
  {
    const auto reader = open({.mode = SeenOptions::Mode::kRead});
    EXPECT_EQ(count_found(*reader, numbers(0, 2000)), 1000U);
    EXPECT_FALSE(reader->verify().ok());
  }
  const auto set = open(small());
  EXPECT_GT(set->stats().rebuilt_filters, 0U);
  EXPECT_EQ(count_found(*set, numbers(0, 2000)), 1000U);
  EXPECT_TRUE(set->verify().ok());
}

TEST_F(SeenSetTest, ReadersAnswerBesideTheWriter) {
  const auto set = open({.table_ids = 1000, .piece_ids = 5000});
  constexpr std::uint64_t kIds = 100'000;
  std::atomic<std::uint64_t> inserted = 0;
  std::vector<std::thread> threads;
  std::atomic<std::uint64_t> wrong = 0;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&, t] {
      const auto reader = set->reader();
      for (std::uint64_t step = static_cast<std::uint64_t>(t); inserted < kIds; ++step) {
        const std::uint64_t known = inserted.load(std::memory_order_acquire);
        if (known > 0 && !*reader->contains(SeenId::number(mix64(step) % known))) ++wrong;
        if (*reader->contains(SeenId::number(kIds + step))) ++wrong;
      }
    });
  }
  for (std::uint64_t from = 0; from < kIds; from += 500) {
    insert_all(*set, numbers(from, from + 500));
    inserted.store(from + 500, std::memory_order_release);
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0U);
}

}  // namespace
}  // namespace kin::store
