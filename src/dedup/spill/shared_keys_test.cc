#include "dedup/spill/shared_keys.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "base/file.h"

namespace kin::dedup {
namespace {

// Every shared key with its records, by a simple method.
std::map<std::uint64_t, std::vector<RecordId>> reference(const std::vector<BandRecord>& records) {
  std::map<std::uint64_t, std::vector<RecordId>> groups;
  for (const BandRecord& record : records)
    groups[std::uint64_t{record.key}].push_back(RecordId{record.record});
  for (auto& [key, ids] : groups) std::sort(ids.begin(), ids.end());
  std::erase_if(groups, [](const auto& group) { return group.second.size() < 2; });
  return groups;
}

std::vector<BandRecord> random_records(std::size_t count, std::uint64_t keys) {
  std::mt19937_64 random(7);
  std::vector<BandRecord> records;
  for (std::size_t i = 0; i < count; ++i) records.push_back({mix64(random() % keys), record_id(i)});
  return records;
}

TEST(SharedKeys, AreFoundAsThePlainWayFindsThem) {
  for (const std::uint64_t keys : {3, 100, 5'000, 1'000'000}) {
    std::vector<BandRecord> records = random_records(5'000, keys);
    const auto expected = reference(records);
    std::map<std::uint64_t, std::vector<RecordId>> found;
    for_each_shared_key(records, [&](std::span<const BandRecord> same) {
      for (const BandRecord& record : same)
        found[std::uint64_t{same.front().key}].push_back(RecordId{record.record});
    });
    EXPECT_EQ(found, expected) << keys << " keys";
  }
}

TEST(SharedKeys, AreTheSameInSlicesOfAnySize) {
  const TemporaryFolder folder = *TemporaryFolder::create();
  Spill spill(
      {.file = folder.path() / "s", .record_bytes = sizeof(BandRecord), .memory_bytes = 1 << 20});
  const std::vector<BandRecord> records = random_records(400'000, 300'000);
  Spill::Writer writer(spill);
  for (const BandRecord& record : records) writer.append(bin_of(record), record);
  ASSERT_TRUE(writer.flush().ok());
  const auto expected = reference(records);
  for (const std::uint64_t memory : {1ULL << 20, 1ULL << 30}) {
    std::mutex mutex;
    std::map<std::uint64_t, std::vector<RecordId>> found;
    ASSERT_TRUE(for_each_shared_key<BandRecord>(
                    spill, 2, memory,
                    [&](std::span<const BandRecord> same) -> Status {
                      const std::lock_guard lock(mutex);
                      for (const BandRecord& record : same)
                        found[std::uint64_t{same.front().key}].push_back(RecordId{record.record});
                      return Done{};
                    })
                    .ok());
    EXPECT_EQ(found, expected);
  }
}

}  // namespace
}  // namespace kin::dedup
