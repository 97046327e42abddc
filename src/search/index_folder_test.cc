#include "search/index_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <future>

#include "base/file.h"

namespace kin::search {
namespace {

namespace fs = std::filesystem;

class IndexFolderTest : public ::testing::Test {
 protected:
  fs::path folder() const { return temporary_.path() / "indexes"; }
  // An index whose settings are a pipe: opening it waits until they are written.
  fs::path make_slow(const std::string& name) const {
    fs::create_directories(folder() / name);
    const fs::path pipe = folder() / name / kConfigName;
    EXPECT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    return pipe;
  }
  static void add(SearchIndex& index, const std::string& id) {
    ASSERT_TRUE(index.add({{Document{.id = id, .title = "The tides"}}}).ok());
  }

 private:
  TemporaryFolder temporary_ = *TemporaryFolder::create();
};

TEST_F(IndexFolderTest, HasIndexesByName) {
  IndexFolder indexes(folder(), {.tend = false});
  EXPECT_TRUE(indexes.names()->empty());
  EXPECT_EQ(indexes.open("papers").error().code, Code::kNotFound);
  ASSERT_TRUE(indexes.create("papers", {.embed = {embed::EmbedderKind::kNone}}).ok());
  EXPECT_EQ(indexes.create("papers", {.embed = {embed::EmbedderKind::kNone}}).error().code,
            Code::kFailedPrecondition);
  EXPECT_EQ(*indexes.names(), std::vector<std::string>{"papers"});
  EXPECT_TRUE(indexes.open("papers").ok());
  ASSERT_TRUE(indexes.drop("papers").ok());
  EXPECT_TRUE(indexes.names()->empty());
  EXPECT_EQ(indexes.open("papers").error().code, Code::kNotFound);
  EXPECT_EQ(indexes.drop("papers").error().code, Code::kNotFound);
  for (const char* name : {"", "..", "a/b", "a b"}) EXPECT_FALSE(check_name(name).ok()) << name;
}

TEST_F(IndexFolderTest, ASlowIndexKeepsNobodyWaitingWhoWantsAnother) {
  IndexFolder indexes(folder(), {.tend = false});
  ASSERT_TRUE(indexes.create("quick", {.embed = {embed::EmbedderKind::kNone}}).ok());
  const fs::path pipe = make_slow("slow");
  const auto open_slow = [&] { return indexes.open("slow"); };
  auto first = std::async(std::launch::async, open_slow);
  auto second = std::async(std::launch::async, open_slow);
  // Once this is open, a reader waits at the other end.
  std::ofstream settings(pipe);
  const auto quick = indexes.open("quick");
  ASSERT_TRUE(quick.ok());
  EXPECT_TRUE((*quick)->search({.text = "tides"}).ok());
  EXPECT_TRUE(indexes.create("another", {.embed = {embed::EmbedderKind::kNone}}).ok());
  EXPECT_TRUE(indexes.drop("another").ok());
  settings << encode({.embed = {embed::EmbedderKind::kNone}}) << std::flush;
  settings.close();
  const auto one = first.get();
  const auto other = second.get();
  ASSERT_TRUE(one.ok()) << one.error().message;
  EXPECT_EQ(*one, *other);
}

TEST_F(IndexFolderTest, IsUsedByManyAtOnce) {
  IndexFolder indexes(folder(), {.tend = true});
  std::vector<std::future<void>> users;
  for (int user = 0; user < 4; ++user)
    users.push_back(std::async(std::launch::async, [&, user] {
      const std::string mine = "index" + std::to_string(user % 2);
      for (int round = 0; round < 5; ++round) {
        (void)indexes.create(mine, {.embed = {embed::EmbedderKind::kNone}}).ok();
        if (const auto index = indexes.open(mine))
          (void)(*index)->add({{Document{.id = "a", .title = "tides"}}}).ok();
        EXPECT_TRUE(indexes.list().ok());
        if (user < 2) (void)indexes.drop(mine).ok();
      }
    }));
  for (auto& user : users) user.get();
  EXPECT_TRUE(indexes.close().ok());
}

TEST_F(IndexFolderTest, ListsWhatIsNotOpenWithoutOpeningIt) {
  IndexFolder indexes(folder(), {.tend = false});
  ASSERT_TRUE(indexes.create("papers", {.embed = {embed::EmbedderKind::kNone}}).ok());
  IndexFolder elsewhere(folder(), {.tend = false});
  add(**elsewhere.open("papers"), "a");
  auto listed = indexes.list();
  ASSERT_EQ(listed->size(), 1U);
  EXPECT_EQ(listed->front().problem, "");
  EXPECT_FALSE(listed->front().info.open);
  EXPECT_EQ(listed->front().info.stats.counters.entities, 1U);
  EXPECT_EQ(listed->front().info.config.embed.text(), "none");
  EXPECT_GT(listed->front().info.disk_bytes, 0U);
  ASSERT_TRUE(elsewhere.close().ok());
  add(**indexes.open("papers"), "b");
  listed = indexes.list();
  EXPECT_TRUE(listed->front().info.open);
  EXPECT_EQ(listed->front().info.stats.counters.entities, 2U);
}

TEST_F(IndexFolderTest, ListsWhatCannotBeReadWithTheReason) {
  IndexFolder indexes(folder(), {.tend = false});
  ASSERT_TRUE(indexes.create("papers", {.embed = {embed::EmbedderKind::kNone}}).ok());
  std::ofstream(folder() / "papers" / kConfigName) << "{}";
  const auto listed = indexes.list();
  ASSERT_EQ(listed->size(), 1U);
  EXPECT_NE(listed->front().problem.find("papers/index.json"), std::string::npos);
}

TEST_F(IndexFolderTest, DropsWhatIsDamagedButNotWhatIsInUse) {
  IndexFolder indexes(folder(), {.tend = false});
  ASSERT_TRUE(indexes.create("papers", {.embed = {embed::EmbedderKind::kNone}}).ok());
  IndexFolder elsewhere(folder(), {.tend = false});
  ASSERT_TRUE(elsewhere.open("papers").ok());
  EXPECT_EQ(indexes.drop("papers").error().code, Code::kFailedPrecondition);
  ASSERT_TRUE(elsewhere.close().ok());
  std::ofstream(folder() / "papers" / kConfigName) << "{}";
  // Leftovers of an interrupted drop do no harm.
  fs::create_directories(folder() / ".dropped-papers" / "shard");
  EXPECT_TRUE(indexes.drop("papers").ok());
  EXPECT_FALSE(fs::exists(folder() / "papers"));
  EXPECT_FALSE(fs::exists(folder() / ".dropped-papers"));
}

}  // namespace
}  // namespace kin::search
