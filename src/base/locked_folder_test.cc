#include "base/locked_folder.h"

#include <gtest/gtest.h>

#include <fstream>

namespace kin {
namespace {

namespace fs = std::filesystem;

TEST(LockedFolder, RemovesItselfAndTheFoldersItMade) {
  const TemporaryFolder root = *TemporaryFolder::create();
  {
    const LockedFolder folder = *LockedFolder::create(root.path() / "a" / "b");
    std::ofstream(folder.path() / "x") << "x";
    EXPECT_TRUE(fs::exists(root.path() / "a" / "b"));
  }
  EXPECT_TRUE(fs::is_empty(root.path()));
}

TEST(LockedFolder, LeavesFoldersThatSomebodyUses) {
  const TemporaryFolder root = *TemporaryFolder::create();
  {
    const LockedFolder folder = *LockedFolder::create(root.path() / "a");
    std::ofstream(root.path() / "a" / "mine") << "x";
  }
  EXPECT_TRUE(fs::exists(root.path() / "a" / "mine"));
}

TEST(LockedFolder, RemovesWhatADeadProcessLeftAndNothingThatLives) {
  const TemporaryFolder root = *TemporaryFolder::create();
  const LockedFolder alive = *LockedFolder::create(root.path());
  // A killed process leaves a folder and a lock that nobody holds.
  const fs::path dead = root.path() / ".kindred-abc123";
  fs::create_directory(dead);
  std::ofstream(dead / "standard_input.jsonl") << "x";
  std::ofstream(dead.string() + ".lock").flush();
  const fs::path other = root.path() / ".kindred-of-somebody";
  fs::create_directory(other);
  const LockedFolder next = *LockedFolder::create(root.path());
  EXPECT_FALSE(fs::exists(dead));
  EXPECT_FALSE(fs::exists(dead.string() + ".lock"));
  EXPECT_TRUE(fs::exists(alive.path()));
  EXPECT_TRUE(fs::exists(other));
}

}  // namespace
}  // namespace kin
