#include "data/files/glob.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/testing/dataset_fixture.h"

namespace kin::data {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Glob, MatchesNamesAsDuckDbDoes) {
  EXPECT_TRUE(matches_glob("*.jsonl", "a.jsonl"));
  EXPECT_TRUE(matches_glob("*.jsonl", ".hidden.jsonl"));
  EXPECT_TRUE(matches_glob("*a*b*", "xxaxxbxx"));
  EXPECT_FALSE(matches_glob("*.jsonl", "a.json"));
  EXPECT_TRUE(matches_glob("?.x", "a.x"));
  EXPECT_FALSE(matches_glob("?.x", ".x"));
  EXPECT_TRUE(matches_glob("[a-c]1", "b1"));
  EXPECT_FALSE(matches_glob("[a-c]1", "d1"));
  EXPECT_TRUE(matches_glob("[!a-c]1", "d1"));
  EXPECT_FALSE(matches_glob("[!a]", "a"));
  EXPECT_TRUE(matches_glob("[^a]", "^"));
  EXPECT_TRUE(matches_glob("[]a]", "]"));
  EXPECT_TRUE(matches_glob("[[]z]", "[z]"));
  EXPECT_FALSE(matches_glob("[a", "a"));
  EXPECT_FALSE(matches_glob("{a,b}", "a"));
  EXPECT_TRUE(matches_glob("", ""));
  EXPECT_FALSE(matches_glob("A", "a"));
}

class GlobFiles : public testing::Test {
 protected:
  void make(const std::string& name) const {
    std::filesystem::create_directories(folder_.path(name).parent_path());
    folder_.write(name, "x");
  }
  // The matches of the pattern, without the folder's own path.
  std::vector<std::string> found(const std::string& pattern) const {
    const std::string root = folder_.path("").string();
    std::vector<std::string> names;
    const auto paths = expand_glob(root + pattern).value();
    for (const std::string& path : paths) names.push_back(path.substr(root.size()));
    return names;
  }
  TestFolder folder_;
};

TEST_F(GlobFiles, TwoStarsMatchAnyNumberOfFolders) {
  for (const char* name : {"a.jsonl", "d/a.jsonl", "d/e/f/a.jsonl", "d/e/b.jsonl", "d/e/b.csv"})
    make(name);
  EXPECT_THAT(found("**/*.jsonl"),
              ElementsAre("a.jsonl", "d/a.jsonl", "d/e/b.jsonl", "d/e/f/a.jsonl"));
  EXPECT_THAT(found("d/**/a.jsonl"), ElementsAre("d/a.jsonl", "d/e/f/a.jsonl"));
  EXPECT_THAT(found("**/e/**/*.jsonl"), ElementsAre("d/e/b.jsonl", "d/e/f/a.jsonl"));
  EXPECT_THAT(found("d/**"), ElementsAre("d/a.jsonl", "d/e/b.csv", "d/e/b.jsonl", "d/e/f/a.jsonl"));
  EXPECT_THAT(found("*/e/?.csv"), ElementsAre("d/e/b.csv"));
  EXPECT_THAT(found("*/*.parquet"), IsEmpty());
}

TEST_F(GlobFiles, FindsHiddenFilesButNotOurOwnWork) {
  for (const char* name : {".h.jsonl", ".d/a.jsonl", ".out.jsonl.kindred/spool.jsonl",
                           ".out.kindred-12.jsonl", "B.jsonl", "a.jsonl"})
    make(name);
  EXPECT_THAT(found("*.jsonl"), ElementsAre(".h.jsonl", "B.jsonl", "a.jsonl"));
  EXPECT_THAT(found("**/*.jsonl"), ElementsAre(".d/a.jsonl", ".h.jsonl", "B.jsonl", "a.jsonl"));
}

TEST_F(GlobFiles, DoesNotFollowLinksToFoldersInDepth) {
  make("d/a.jsonl");
  std::filesystem::create_directory_symlink("..", folder_.path("d/loop"));
  std::filesystem::create_symlink("a.jsonl", folder_.path("d/link.jsonl"));
  EXPECT_THAT(found("**/*.jsonl"), ElementsAre("d/a.jsonl", "d/link.jsonl"));
}

TEST_F(GlobFiles, AFolderMeansTheFilesBelowIt) {
  for (const char* name : {"d/b.jsonl", "d/a/c.csv", "d/.h.jsonl", "d/.g/a.jsonl", "d/x.txt"})
    make(name);
  const std::string root = folder_.path("").string();
  const auto files = files_below(root + "d/").value();
  EXPECT_THAT(files, ElementsAre(root + "d/a/c.csv", root + "d/b.jsonl", root + "d/x.txt"));
}

TEST(Glob, KnowsThePartWithoutWildcards) {
  EXPECT_EQ(fixed_prefix("a/b/*/c.jsonl"), "a/b");
  EXPECT_EQ(fixed_prefix("/x/**/c.jsonl"), "/x");
  EXPECT_EQ(fixed_prefix("*.jsonl"), "");
}

}  // namespace
}  // namespace kin::data
