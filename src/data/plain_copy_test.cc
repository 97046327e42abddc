#include "data/plain_copy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"

namespace kin::data {
namespace {

using ::testing::HasSubstr;

TEST(PlainCopy, GoesThroughParquetAndBack) {
  const auto folder = TemporaryFolder::create();
  ASSERT_TRUE(folder.ok());
  const auto at = [&](const char* name) { return folder->path() / name; };
  const std::string lines = "{\"id\":1,\"text\":\"one\"}\n{\"id\":2,\"text\":\"two\"}\n";
  ASSERT_TRUE(write_file_atomically(at("a.jsonl"), lines).ok());
  ASSERT_TRUE(plain_copy(at("a.jsonl"), at("a.parquet"), 1).ok());
  ASSERT_TRUE(plain_copy(at("a.parquet"), at("b.jsonl"), 2).ok());
  EXPECT_EQ(*read_file(at("b.jsonl")), lines);
}

TEST(PlainCopy, RefusesOtherFormats) {
  const Status status = plain_copy("a.csv", "b.parquet", 1);
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message, HasSubstr("a.csv is neither JSONL nor Parquet"));
}

}  // namespace
}  // namespace kin::data
