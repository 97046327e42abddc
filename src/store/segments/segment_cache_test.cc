#include "store/segments/segment_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"

namespace kin::store {
namespace {

class SegmentCacheTest : public testing::Test {
 protected:
  std::shared_ptr<DiskFile> add(SegmentCache& cache, const std::string& name, std::size_t bytes) {
    return *cache.add(name, [&](DiskFile& file) { return file.append(std::string(bytes, 'x')); });
  }
  std::vector<std::string> names() { return *system_disk().list(folder_.path()); }

  TemporaryFolder folder_ = *TemporaryFolder::create();
};

TEST_F(SegmentCacheTest, KeepsTheMostRecentlyUsedWithinItsBound) {
  SegmentCache cache(system_disk(), folder_.path(), 1'000);
  for (const char* name : {"segments/a", "segments/b", "segments/c"}) add(cache, name, 300);
  EXPECT_NE(cache.find({.name = "segments/a", .bytes = 300}), nullptr);
  add(cache, "segments/d", 300);
  EXPECT_THAT(names(), testing::ElementsAre("a", "c", "d"));
  EXPECT_EQ(cache.find({.name = "segments/b", .bytes = 300}), nullptr);
  EXPECT_EQ(cache.failures(), 0U);
}

TEST_F(SegmentCacheTest, WhatIsTooLargeIsUsableAndNotKept) {
  SegmentCache cache(system_disk(), folder_.path(), 1'000);
  EXPECT_FALSE(cache.takes(600));
  const auto file = add(cache, "segments/a", 600);
  EXPECT_EQ(*file->size(), 600U);
  EXPECT_THAT(names(), testing::IsEmpty());
}

TEST_F(SegmentCacheTest, ForgetsFilesOfTheWrongSizeAndWhatAKilledProcessLeft) {
  std::filesystem::create_directories(folder_.path());
  ASSERT_TRUE(replace_whole(system_disk(), folder_.path() / "a.1-2.part", "half").ok());
  SegmentCache cache(system_disk(), folder_.path(), 1'000);
  EXPECT_THAT(names(), testing::IsEmpty());
  add(cache, "segments/a", 100);
  EXPECT_EQ(cache.find({.name = "segments/a", .bytes = 99}), nullptr);
  EXPECT_THAT(names(), testing::IsEmpty());
}

TEST_F(SegmentCacheTest, AFillThatFailsLeavesNothing) {
  SegmentCache cache(system_disk(), folder_.path(), 1'000);
  const auto failed = cache.add(
      "segments/a", [](DiskFile&) -> Status { return Error{Code::kUnavailable, "no answer"}; });
  EXPECT_EQ(failed.error().message, "no answer");
  EXPECT_THAT(names(), testing::IsEmpty());
}

TEST_F(SegmentCacheTest, AFolderThatCannotBeMadeCostsTimeOnly) {
  ASSERT_TRUE(replace_whole(system_disk(), folder_.path() / "file", "x").ok());
  SegmentCache cache(system_disk(), folder_.path() / "file", 1'000);
  EXPECT_EQ(cache.find({.name = "segments/a", .bytes = 1}), nullptr);
  EXPECT_FALSE(cache.add("segments/a", [](DiskFile&) -> Status { return Done{}; }).ok());
  EXPECT_GT(cache.failures(), 0U);
}

}  // namespace
}  // namespace kin::store
