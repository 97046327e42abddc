#include "base/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

namespace kin {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class FileTest : public testing::Test {
 protected:
  TemporaryFolder folder_ = *TemporaryFolder::create();
  fs::path path(const char* name) const { return folder_.path() / name; }
};

TEST_F(FileTest, NamesThePathAndARemedyWhenMissing) {
  const auto file = File::open_to_read(path("absent"));
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.error().code, Code::kNotFound);
  EXPECT_THAT(file.error().message, HasSubstr("absent"));
  EXPECT_THAT(file.error().message, HasSubstr("check the path"));
}

TEST_F(FileTest, RefusesToReadAFolder) {
  EXPECT_FALSE(File::open_to_read(folder_.path()).ok());
}

TEST_F(FileTest, ReadsBackWhatWasWrittenAtAnOffset) {
  File file = *File::create(path("a"));
  ASSERT_TRUE(file.write_at(100, "hello").ok());
  std::string got(5, ' ');
  ASSERT_TRUE(file.read_at(100, got.data(), 5).ok());
  EXPECT_EQ(got, "hello");
  EXPECT_EQ(file.read_at(103, got.data(), 5).error().code, Code::kDataLoss);
}

TEST_F(FileTest, TellsWhetherReadingWouldHaveToWait) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  File pipe = *File::open_to_update(path("pipe"));
  EXPECT_FALSE(*pipe.wait_to_read(std::chrono::milliseconds(0)));
  ASSERT_TRUE(pipe.write("a").ok());
  EXPECT_TRUE(*pipe.wait_to_read(std::chrono::milliseconds(0)));
  EXPECT_TRUE(*File::create(path("empty"))->wait_to_read(std::chrono::milliseconds(0)));
}

TEST_F(FileTest, UpdatesInPlaceWithoutLosingTheRest) {
  ASSERT_TRUE(File::create(path("u"))->write("abcdef").ok());
  File file = *File::open_to_update(path("u"));
  ASSERT_TRUE(file.write_at(2, "XY").ok());
  EXPECT_EQ(*read_file(path("u")), "abXYef");
}

TEST_F(FileTest, ALockedFileIsRefusedToOthersUntilItIsClosed) {
  File first = *File::open_to_update(path("l"));
  File second = *File::open_to_update(path("l"));
  ASSERT_TRUE(first.lock().ok());
  EXPECT_EQ(second.lock().error().code, Code::kFailedPrecondition);
  ASSERT_TRUE(first.close().ok());
  EXPECT_TRUE(second.lock().ok());
}

TEST_F(FileTest, AtomicFileAppearsOnlyOnCommit) {
  {
    AtomicFile abandoned = *AtomicFile::create(path("x.jsonl"));
    ASSERT_TRUE(abandoned.write("half").ok());
  }
  EXPECT_TRUE(fs::is_empty(folder_.path()));
  AtomicFile file = *AtomicFile::create(path("x.jsonl"));
  ASSERT_TRUE(file.write("whole").ok());
  EXPECT_FALSE(fs::exists(path("x.jsonl")));
  ASSERT_TRUE(file.commit().ok());
  EXPECT_EQ(*read_file(path("x.jsonl")), "whole");
}

TEST_F(FileTest, TemporaryFolderVanishesWithItsContents) {
  fs::path inside;
  {
    TemporaryFolder folder = *TemporaryFolder::create(folder_.path());
    inside = folder.path();
    std::ofstream(inside / "f") << "x";
  }
  EXPECT_FALSE(fs::exists(inside));
}

TEST_F(FileTest, TemporaryNameKeepsFolderAndExtension) {
  const fs::path name = temporary_name("out/clean.jsonl.gz");
  EXPECT_EQ(name.parent_path(), "out");
  EXPECT_EQ(name.extension(), ".gz");
}

TEST(FileExists, TellsAbsenceFromNotKnowing) {
  const TemporaryFolder folder = TemporaryFolder::create().value();
  EXPECT_TRUE(file_exists(folder.path()).value());
  EXPECT_FALSE(file_exists(folder.path() / "nothing").value());
  EXPECT_FALSE(file_exists(folder.path() / std::string(5000, 'x')).ok());
}

}  // namespace
}  // namespace kin
