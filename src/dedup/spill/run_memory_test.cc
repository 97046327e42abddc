#include "dedup/spill/run_memory.h"

#include <gtest/gtest.h>

namespace kin::dedup {
namespace {

constexpr std::uint64_t kMebibyte = 1 << 20;

// Calls check(memory, records) for budgets and numbers of records whose tables leave most of the
// budget.
template <typename Check>
void for_each_run(const Check& check) {
  for (const std::uint64_t mebibytes : {128U, 256U, 1'024U, 1'536U, 8'192U}) {
    DedupOptions options;
    options.max_memory = mebibytes * kMebibyte;
    const RunMemory memory(options);
    for (const std::uint64_t records : {0U, 10'000U, 700'000U, 5'000'000U}) {
      if (memory.tables(records) >= memory.own() / 4) continue;
      SCOPED_TRACE(testing::Message() << mebibytes << " MiB, " << records << " records");
      check(memory, options, records);
    }
  }
}

TEST(RunMemory, LeavesReadersWhatKeysAndStagesDoNotUse) {
  for_each_run([](const RunMemory& memory, const DedupOptions& options, std::uint64_t records) {
    const KeyBytes keys(options);
    const std::uint64_t spilled =
        std::min(memory.shares().spills, records * (keys.bands + keys.hashes));
    const std::uint64_t signatures = std::min(memory.shares().signatures, records * keys.signature);
    EXPECT_LE(memory.beside_keys(records) + spilled + signatures + memory.tables(records) +
                  memory.shares().stage,
              memory.own());
    EXPECT_GE(memory.for_texts(records), memory.beside_keys(records));
  });
}

TEST(RunMemory, DividesTheRestBetweenTextsPagesAndReaders) {
  for_each_run([](const RunMemory& memory, const DedupOptions&, std::uint64_t records) {
    const std::uint64_t room = memory.for_texts(records);
    for (const std::uint64_t pages : {std::uint64_t{0}, room / 3, room}) {
      const std::uint64_t texts = memory.of_texts(records, UINT64_MAX, pages, UINT64_MAX);
      EXPECT_LE(texts + pages, room);
      EXPECT_EQ(memory.of_texts(records, 1'000, 0, UINT64_MAX), 1'000U);
      EXPECT_EQ(memory.of_texts(records, UINT64_MAX, 0, 77), 77U);
      // The memory of a writer includes its pages; texts come on top.
      const std::uint64_t writer = memory.for_writer(records, pages, texts);
      EXPECT_LE(writer + texts + memory.tables(records), memory.own());
    }
    EXPECT_EQ(memory.for_writer(records, 0, 0), memory.shares().writer);
  });
}

TEST(RunMemory, PairsComeBeforeWhatIsKept) {
  for_each_run([](const RunMemory& memory, const DedupOptions& options, std::uint64_t records) {
    const std::uint64_t fixed = kFixedBytes;
    const std::uint64_t room = PairMemory{options, records, fixed}.bytes(options.max_memory);
    EXPECT_EQ(memory.beside_pairs(records, 0, fixed), room);
    EXPECT_EQ(memory.beside_pairs(records, room, fixed), 0U);
    const std::uint64_t kept = memory.beside_pairs(records, room / 9, fixed);
    EXPECT_LE(kept + 3 * (room / 9), room);
  });
}

}  // namespace
}  // namespace kin::dedup
