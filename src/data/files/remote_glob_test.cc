#include "data/files/remote_glob.h"

#include <gtest/gtest.h>

namespace kin::data {
namespace {

TEST(RemoteGlob, MatchesPathsPartByPart) {
  EXPECT_TRUE(matches_path("*.jsonl", "a.jsonl"));
  EXPECT_FALSE(matches_path("*.jsonl", "x/a.jsonl"));
  EXPECT_TRUE(matches_path("x/*.jsonl", "x/a.jsonl"));
  EXPECT_TRUE(matches_path("**/*.jsonl", "a.jsonl"));
  EXPECT_TRUE(matches_path("**/*.jsonl", "x/y/a.jsonl"));
  EXPECT_TRUE(matches_path("**/y/*.jsonl", "x/y/a.jsonl"));
  EXPECT_FALSE(matches_path("**/z/*.jsonl", "x/y/a.jsonl"));
  EXPECT_TRUE(matches_path("x/**", "x/y/a.jsonl"));
  EXPECT_FALSE(matches_path("x/**", "x"));
  EXPECT_TRUE(matches_path("**/**/a", "x/y/z/a"));
  EXPECT_FALSE(matches_path("x/y", "x/y/z"));
  EXPECT_FALSE(matches_path("x/y/z", "x/y"));
}

TEST(RemoteGlob, KnowsAddresses) {
  EXPECT_TRUE(is_remote("s3://bucket/a.jsonl"));
  EXPECT_FALSE(is_remote("s3:/bucket"));
  EXPECT_FALSE(is_remote("data/s3://bucket"));
}

}  // namespace
}  // namespace kin::data
