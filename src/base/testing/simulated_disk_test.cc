#include "base/testing/simulated_disk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "base/file.h"

namespace kin {
namespace {

namespace fs = std::filesystem;
using Operation = SimulatedDisk::Operation;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

// The contract of every disk: the system's and the simulated one.
class DiskContract : public testing::TestWithParam<bool> {
 protected:
  DiskContract() {
    if (!simulated()) return;
    EXPECT_TRUE(simulation_.make_folder(folder_.path()).ok());
  }
  static bool simulated() { return GetParam(); }
  Disk& disk() { return simulated() ? static_cast<Disk&>(simulation_) : system_disk(); }
  fs::path path(const char* name) const { return folder_.path() / name; }
  void write(const char* name, std::string_view bytes) {
    ASSERT_TRUE((*disk().create(path(name)))->append(bytes).ok());
  }

  SimulatedDisk simulation_;
  TemporaryFolder folder_ = *TemporaryFolder::create();
};

INSTANTIATE_TEST_SUITE_P(Disks, DiskContract, testing::Bool(),
                         [](const auto& test) { return test.param ? "Simulated" : "System"; });

TEST_P(DiskContract, ReadsBackWhatWasAppended) {
  const auto file = *disk().create(path("a"));
  ASSERT_TRUE(file->append("hello ").ok());
  ASSERT_TRUE(file->append("world").ok());
  std::string got(5, ' ');
  ASSERT_TRUE(file->read_at(4, got.data(), 5).ok());
  EXPECT_EQ(got, "o wor");
  EXPECT_EQ(*file->size(), 11U);
  EXPECT_TRUE(file->sync().ok());
  EXPECT_EQ(*read_whole(disk(), path("a")), "hello world");
}

TEST_P(DiskContract, ReadingBeyondTheEndIsDataLoss) {
  write("a", "hello");
  const auto file = *disk().open_to_read(path("a"));
  char byte = 0;
  EXPECT_EQ(file->read_at(5, &byte, 1).error().code, Code::kDataLoss);
  EXPECT_EQ(file->read_at(99, &byte, 1).error().code, Code::kDataLoss);
  EXPECT_TRUE(file->read_at(5, &byte, 0).ok());
}

TEST_P(DiskContract, CreateEmptiesAndOpenToWriteKeeps) {
  write("a", "one");
  ASSERT_TRUE((*disk().open_to_write(path("a")))->append("two").ok());
  EXPECT_EQ(*read_whole(disk(), path("a")), "onetwo");
  write("a", "three");
  EXPECT_EQ(*read_whole(disk(), path("a")), "three");
  ASSERT_TRUE((*disk().open_to_write(path("new")))->append("x").ok());
  EXPECT_EQ(*read_whole(disk(), path("new")), "x");
}

TEST_P(DiskContract, AppendsAtTheEndAfterATruncate) {
  write("a", "abcdef");
  const auto file = *disk().open_to_write(path("a"));
  ASSERT_TRUE(file->truncate(2).ok());
  ASSERT_TRUE(file->append("X").ok());
  EXPECT_EQ(*read_whole(disk(), path("a")), "abX");
  ASSERT_TRUE(file->truncate(5).ok());
  EXPECT_EQ(*read_whole(disk(), path("a")), std::string("abX\0\0", 5));
  const auto made = *disk().create(path("b"));
  ASSERT_TRUE(made->append("abcdef").ok());
  ASSERT_TRUE(made->truncate(2).ok());
  ASSERT_TRUE(made->append("X").ok());
  EXPECT_EQ(*read_whole(disk(), path("b")), "abX");
}

TEST_P(DiskContract, WritesOverWhatIsThereAndBeyondTheEnd) {
  write("a", "abcdef");
  const auto file = *disk().open_to_write(path("a"));
  ASSERT_TRUE(file->write_at(2, "XY").ok());
  EXPECT_EQ(*read_whole(disk(), path("a")), "abXYef");
  ASSERT_TRUE(file->append("g").ok());
  ASSERT_TRUE(file->write_at(6, "GH").ok());
  EXPECT_EQ(*read_whole(disk(), path("a")), "abXYefGH");
  ASSERT_TRUE(file->write_at(10, "z").ok());
  ASSERT_TRUE(file->append("!").ok());
  EXPECT_EQ(*read_whole(disk(), path("a")), std::string("abXYefGH\0\0z!", 12));
  ASSERT_TRUE(file->write_at(99, "").ok());
  EXPECT_EQ(*file->size(), 12U);
}

TEST_P(DiskContract, AFileToReadCannotBeWritten) {
  write("a", "x");
  EXPECT_FALSE((*disk().open_to_read(path("a")))->append("y").ok());
  EXPECT_FALSE((*disk().open_to_read(path("a")))->write_at(0, "y").ok());
  EXPECT_FALSE((*disk().open_to_read(path("a")))->truncate(0).ok());
}

TEST_P(DiskContract, OpenFilesSurviveRenameAndRemove) {
  write("a", "first");
  write("b", "second");
  const auto a = *disk().open_to_write(path("a"));
  const auto b = *disk().open_to_read(path("b"));
  ASSERT_TRUE(disk().rename(path("a"), path("b")).ok());
  ASSERT_TRUE(a->append("!").ok());
  EXPECT_EQ(*read_whole(disk(), path("b")), "first!");
  std::string got(6, ' ');
  ASSERT_TRUE(b->read_at(0, got.data(), 6).ok());
  EXPECT_EQ(got, "second");
  ASSERT_TRUE(disk().remove(path("b")).ok());
  ASSERT_TRUE(a->read_at(0, got.data(), 6).ok());
  EXPECT_EQ(got, "first!");
}

TEST_P(DiskContract, NamesWhatIsMissing) {
  for (const Error& error :
       {disk().open_to_read(path("absent")).error(), disk().remove(path("absent")).error(),
        disk().rename(path("absent"), path("b")).error(),
        disk().create(path("absent") / "b").error(), disk().list(path("absent")).error(),
        disk().sync_folder(path("absent")).error()}) {
    EXPECT_EQ(error.code, Code::kNotFound) << error.message;
  }
  EXPECT_THAT(disk().open_to_read(path("absent")).error().message, HasSubstr("absent"));
  EXPECT_FALSE(disk().open_to_read(folder_.path()).ok());
}

TEST_P(DiskContract, ListsFilesAndFoldersSorted) {
  write("b", "");
  write("a", "");
  ASSERT_TRUE(disk().make_folder(path("c") / "d").ok());
  EXPECT_THAT(*disk().list(folder_.path()), ElementsAre("a", "b", "c"));
  EXPECT_THAT(*disk().list(path("c")), ElementsAre("d"));
  EXPECT_TRUE(*disk().exists(path("a")));
  EXPECT_TRUE(*disk().exists(path("c") / "d"));
  EXPECT_FALSE(*disk().exists(path("d")));
  EXPECT_TRUE(disk().make_folder(path("c")).ok());
}

TEST_P(DiskContract, ALockedFileIsRefusedToOthersUntilItIsClosed) {
  auto first = *disk().open_to_write(path("l"));
  const auto second = *disk().open_to_write(path("l"));
  ASSERT_TRUE(first->lock().ok());
  EXPECT_TRUE(first->lock().ok());
  EXPECT_EQ(second->lock().error().code, Code::kFailedPrecondition);
  first.reset();
  EXPECT_TRUE(second->lock().ok());
}

TEST_P(DiskContract, ATemporaryFileHasNoName) {
  const auto file = *disk().create_temporary(folder_.path());
  const auto other = *disk().create_temporary(std::nullopt);
  ASSERT_TRUE(file->append("abc").ok());
  ASSERT_TRUE(other->append("x").ok());
  ASSERT_TRUE(file->write_at(1, "X").ok());
  std::string got(3, ' ');
  ASSERT_TRUE(file->read_at(0, got.data(), 3).ok());
  EXPECT_EQ(got, "aXc");
  EXPECT_TRUE(disk().list(folder_.path())->empty());
}

TEST_P(DiskContract, AReplacementThatFailsLeavesTheOldFileAlone) {
  ASSERT_TRUE(replace_whole(disk(), path("m"), "one").ok());
  const Status failed = replace_file(disk(), path("m"), [](DiskFile& file) -> Status {
    KIN_RETURN_IF_ERROR(file.append("tw"));
    return Error{Code::kInternal, "stop"};
  });
  EXPECT_EQ(failed.error().code, Code::kInternal);
  EXPECT_EQ(*read_whole(disk(), path("m")), "one");
  EXPECT_THAT(*disk().list(folder_.path()), ElementsAre("m"));
}

TEST_P(DiskContract, ReplacesASmallFileWhole) {
  ASSERT_TRUE(replace_whole(disk(), path("m"), "one").ok());
  ASSERT_TRUE(replace_whole(disk(), path("m"), "two").ok());
  EXPECT_EQ(*read_whole(disk(), path("m")), "two");
  EXPECT_THAT(*disk().list(folder_.path()), ElementsAre("m"));
}

constexpr UnsyncedBytes kEveryBytes[] = {UnsyncedBytes::kLost,     UnsyncedBytes::kKept,
                                         UnsyncedBytes::kPrefix,   UnsyncedBytes::kTorn,
                                         UnsyncedBytes::kShuffled, UnsyncedBytes::kAny};

// Names are kept, so that the test sees only what became of the bytes.
std::optional<std::string> after_cut(const SimulatedDisk& disk, UnsyncedBytes bytes,
                                     std::uint64_t seed = 0) {
  const auto cut = disk.power_cut({bytes, UnsyncedNames::kKept, seed});
  auto whole = read_whole(*cut, "/a");
  return whole.ok() ? std::optional(*whole) : std::nullopt;
}

std::set<std::string> every_cut(const SimulatedDisk& disk, UnsyncedBytes bytes) {
  std::set<std::string> found;
  for (std::uint64_t seed = 0; seed < 300; ++seed) found.insert(*after_cut(disk, bytes, seed));
  return found;
}

TEST(SimulatedDisk, SyncedBytesSurviveEveryPowerCut) {
  SimulatedDisk disk;
  const auto file = *disk.create("/a");
  ASSERT_TRUE(file->append("safe").ok());
  ASSERT_TRUE(file->sync().ok());
  ASSERT_TRUE(file->append(std::string(3000, 'x')).ok());
  for (const UnsyncedBytes bytes : kEveryBytes) {
    for (const std::string& got : every_cut(disk, bytes)) EXPECT_EQ(got.substr(0, 4), "safe");
  }
}

TEST(SimulatedDisk, UnsyncedBytesAreLostOrKept) {
  SimulatedDisk disk;
  const auto file = *disk.create("/a");
  ASSERT_TRUE(file->append("safe").ok());
  ASSERT_TRUE(file->sync().ok());
  ASSERT_TRUE(file->append("more").ok());
  EXPECT_EQ(after_cut(disk, UnsyncedBytes::kLost), "safe");
  EXPECT_EQ(after_cut(disk, UnsyncedBytes::kKept), "safemore");
  EXPECT_EQ(*read_whole(disk, "/a"), "safemore");
}

TEST(SimulatedDisk, KeepsEveryPrefixInTheOrderOfWriting) {
  SimulatedDisk disk;
  const auto file = *disk.create("/a");
  ASSERT_TRUE(file->append("ab").ok());
  ASSERT_TRUE(file->append("cd").ok());
  EXPECT_THAT(every_cut(disk, UnsyncedBytes::kPrefix), ElementsAre("", "a", "ab", "abc", "abcd"));
}

TEST(SimulatedDisk, TearsAtTheEndsOfSectors) {
  SimulatedDisk disk;
  const auto file = *disk.create("/a");
  ASSERT_TRUE(file->append(std::string(100, 'a')).ok());
  ASSERT_TRUE(file->sync().ok());
  ASSERT_TRUE(file->append(std::string(1000, 'b')).ok());
  std::set<std::size_t> sizes;
  for (const std::string& got : every_cut(disk, UnsyncedBytes::kTorn)) sizes.insert(got.size());
  EXPECT_THAT(sizes, ElementsAre(100, 512, 1024, 1100));
}

TEST(SimulatedDisk, KeepsLaterSectorsWithoutEarlierOnes) {
  SimulatedDisk disk;
  const auto file = *disk.create("/a");
  ASSERT_TRUE(file->append(std::string(512, 'a') + std::string(512, 'b')).ok());
  const std::string zeros(512, '\0');
  EXPECT_TRUE(every_cut(disk, UnsyncedBytes::kShuffled).contains(zeros + std::string(512, 'b')));
}

TEST(SimulatedDisk, AnUnsyncedOverwriteIsLostKeptOrTorn) {
  SimulatedDisk disk;
  const auto file = *disk.create("/a");
  const std::string before(2000, 'a');
  ASSERT_TRUE(file->append(before).ok());
  ASSERT_TRUE(file->sync().ok());
  ASSERT_TRUE(file->write_at(500, std::string(1000, 'b')).ok());
  const auto with_b = [&](std::size_t from, std::size_t to) {
    std::string bytes = before;
    return bytes.replace(from, to - from, to - from, 'b');
  };
  EXPECT_EQ(after_cut(disk, UnsyncedBytes::kLost), before);
  EXPECT_EQ(after_cut(disk, UnsyncedBytes::kKept), with_b(500, 1500));
  EXPECT_THAT(every_cut(disk, UnsyncedBytes::kTorn),
              UnorderedElementsAre(before, with_b(500, 512), with_b(500, 1024), with_b(500, 1500)));
  const std::set<std::string> prefixes = every_cut(disk, UnsyncedBytes::kPrefix);
  for (const std::string& got : prefixes)
    EXPECT_EQ(got, with_b(500, 500 + static_cast<std::size_t>(std::ranges::count(got, 'b'))));
  EXPECT_GT(prefixes.size(), 100U);
  EXPECT_TRUE(every_cut(disk, UnsyncedBytes::kShuffled).contains(with_b(1024, 1500)));
  ASSERT_TRUE(file->sync().ok());
  EXPECT_EQ(after_cut(disk, UnsyncedBytes::kLost), with_b(500, 1500));
}

TEST(SimulatedDisk, AnUnsyncedOverwriteKeepsTheSizeOfTheFile) {
  SimulatedDisk disk;
  const auto file = *disk.create("/a");
  ASSERT_TRUE(file->append(std::string(2000, 'a')).ok());
  ASSERT_TRUE(file->write_at(0, "b").ok());
  for (const std::string& got : every_cut(disk, UnsyncedBytes::kPrefix)) {
    EXPECT_TRUE(got.size() == 2000U || !got.starts_with('b'));
  }
  ASSERT_TRUE(file->sync().ok());
  ASSERT_TRUE(file->write_at(0, "c").ok());
  for (const UnsyncedBytes bytes : kEveryBytes) {
    for (const std::string& got : every_cut(disk, bytes)) EXPECT_EQ(got.size(), 2000U);
  }
}

TEST(SimulatedDisk, AnUnsyncedTruncateIsLostOrKept) {
  SimulatedDisk disk;
  const auto file = *disk.create("/a");
  ASSERT_TRUE(file->append("abcdef").ok());
  ASSERT_TRUE(file->sync().ok());
  ASSERT_TRUE(file->truncate(2).ok());
  EXPECT_EQ(after_cut(disk, UnsyncedBytes::kLost), "abcdef");
  EXPECT_EQ(after_cut(disk, UnsyncedBytes::kKept), "ab");
  ASSERT_TRUE(file->sync().ok());
  EXPECT_EQ(after_cut(disk, UnsyncedBytes::kLost), "ab");
}

TEST(SimulatedDisk, AFailedSyncLosesTheBytesThoughTheyCanStillBeRead) {
  SimulatedDisk disk;
  const auto file = *disk.create("/a");
  ASSERT_TRUE(file->append("safe").ok());
  ASSERT_TRUE(file->sync().ok());
  ASSERT_TRUE(file->append(std::string(2000, 'x')).ok());
  disk.fail(SimulatedDisk::Fault{.only = Operation::kSync});
  EXPECT_FALSE(file->sync().ok());
  EXPECT_EQ(read_whole(disk, "/a")->size(), 2004U);
  EXPECT_EQ(after_cut(disk, UnsyncedBytes::kKept), "safe");
  // The next sync succeeds, and still does not write what the failed one dropped.
  ASSERT_TRUE(file->sync().ok());
  EXPECT_EQ(after_cut(disk, UnsyncedBytes::kKept), "safe");
  ASSERT_TRUE(file->append(std::string(1000, 'y')).ok());
  ASSERT_TRUE(file->sync().ok());
  const std::string got = *after_cut(disk, UnsyncedBytes::kLost);
  EXPECT_EQ(got.substr(4, 1000), std::string(1000, '\0'));
  EXPECT_EQ(got.substr(2004), std::string(1000, 'y'));
}

TEST(SimulatedDisk, NamesAreDurableOnlyAfterTheFolderIsSynced) {
  SimulatedDisk disk;
  const auto file = *disk.create("/a");
  ASSERT_TRUE(file->append("x").ok());
  ASSERT_TRUE(file->sync().ok());
  const PowerCut harsh{UnsyncedBytes::kLost, UnsyncedNames::kLost};
  EXPECT_TRUE(disk.power_cut(harsh)->files().empty());
  ASSERT_TRUE(disk.sync_folder("/").ok());
  EXPECT_THAT(disk.power_cut(harsh)->files(), ElementsAre("/a"));
  ASSERT_TRUE(disk.remove("/a").ok());
  EXPECT_EQ(*read_whole(*disk.power_cut(harsh), "/a"), "x");
  EXPECT_TRUE(disk.power_cut({UnsyncedBytes::kLost, UnsyncedNames::kKept})->files().empty());
}

TEST(SimulatedDisk, ARenameIsKeptOrLostWholeAndApartFromOtherChanges) {
  SimulatedDisk disk;
  for (const char* name : {"/a", "/b"}) {
    const auto file = *disk.create(name);
    ASSERT_TRUE(file->append(name).ok());
    ASSERT_TRUE(file->sync().ok());
  }
  ASSERT_TRUE(disk.sync_folder("/").ok());
  ASSERT_TRUE(disk.rename("/a", "/b").ok());
  ASSERT_TRUE((*disk.create("/c"))->sync().ok());
  std::set<std::string> found;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const auto cut = disk.power_cut({UnsyncedBytes::kKept, UnsyncedNames::kAny, seed});
    std::string names;
    for (const fs::path& path : cut->files()) names += path.string();
    found.insert(names + "=" + *read_whole(*cut, "/b"));
  }
  EXPECT_THAT(found, ElementsAre("/a/b/c=/b", "/a/b=/b", "/b/c=/a", "/b=/a"));
}

TEST(SimulatedDisk, FailsTheNthChangeOnceOrForGood) {
  SimulatedDisk disk;
  const auto file = *disk.create("/a");
  disk.fail(SimulatedDisk::Fault{.nth = 3, .error_number = ENOSPC});
  EXPECT_TRUE(file->append("x").ok());
  EXPECT_TRUE(file->sync().ok());
  EXPECT_EQ(file->append("y").error().code, Code::kResourceExhausted);
  EXPECT_TRUE(file->append("z").ok());
  EXPECT_EQ(*read_whole(disk, "/a"), "xz");
  disk.fail(SimulatedDisk::Fault{.only = Operation::kRemove, .for_good = true});
  EXPECT_TRUE(file->append("!").ok());
  EXPECT_EQ(disk.remove("/a").error().code, Code::kUnavailable);
  EXPECT_FALSE(disk.remove("/a").ok());
  EXPECT_EQ(disk.failures(), 3U);
  disk.fail(std::nullopt);
  EXPECT_TRUE(disk.remove("/a").ok());
}

TEST(SimulatedDisk, EveryKindOfChangeCanFail) {
  for (const Operation operation : SimulatedDisk::kChanges) {
    SimulatedDisk disk;
    const auto file = *disk.create("/a");
    disk.fail(SimulatedDisk::Fault{.only = operation});
    const std::map<Operation, bool> worked = {
        {Operation::kCreate, disk.create("/b").ok()},
        {Operation::kAppend, file->append("y").ok()},
        {Operation::kWriteAt, file->write_at(0, "z").ok()},
        {Operation::kSync, file->sync().ok()},
        {Operation::kTruncate, file->truncate(0).ok()},
        {Operation::kMakeFolder, disk.make_folder("/d").ok()},
        {Operation::kSyncFolder, disk.sync_folder("/").ok()},
        {Operation::kRename, disk.rename("/a", "/c").ok()},
        {Operation::kRemove, disk.remove(*disk.exists("/a") ? "/a" : "/c").ok()},
    };
    for (const auto& [kind, ok] : worked) EXPECT_EQ(ok, kind != operation);
    EXPECT_EQ(disk.failures(), 1U);
  }
}

TEST(SimulatedDisk, AFailedWriteCanLeaveAPrefix) {
  SimulatedDisk disk;
  const auto file = *disk.create("/a");
  disk.fail(SimulatedDisk::Fault{.only = Operation::kAppend, .write_prefix = 3});
  EXPECT_FALSE(file->append("abcdef").ok());
  EXPECT_EQ(*read_whole(disk, "/a"), "abc");
  disk.fail(SimulatedDisk::Fault{.only = Operation::kWriteAt, .write_prefix = 1});
  EXPECT_FALSE(file->write_at(1, "XY").ok());
  EXPECT_EQ(*read_whole(disk, "/a"), "aXc");
}

TEST(SimulatedDisk, ReadsFailOnlyWhenAskedFor) {
  SimulatedDisk disk;
  ASSERT_TRUE((*disk.create("/a"))->append("x").ok());
  disk.fail(SimulatedDisk::Fault{});
  EXPECT_TRUE(read_whole(disk, "/a").ok());
  disk.fail(SimulatedDisk::Fault{.only = Operation::kRead});
  EXPECT_EQ(read_whole(disk, "/a").error().code, Code::kUnavailable);
  EXPECT_TRUE(read_whole(disk, "/a").ok());
}

TEST(SimulatedDisk, TheObserverSeesEveryChangeBeforeItHappensAndMayCutThePower) {
  SimulatedDisk disk;
  std::vector<std::string> states;
  disk.observe([&](const SimulatedDisk::Step& step) {
    EXPECT_EQ(step.number, states.size() + 1);
    states.push_back(after_cut(disk, UnsyncedBytes::kKept).value_or("absent"));
  });
  const auto file = *disk.create("/a");
  ASSERT_TRUE(file->append("x").ok());
  ASSERT_TRUE(file->append("y").ok());
  ASSERT_TRUE(disk.remove("/a").ok());
  EXPECT_THAT(states, ElementsAre("absent", "", "x", "xy"));
  EXPECT_EQ(disk.steps(), 4U);
}

TEST(SimulatedDisk, FlipsABitUnderAnOpenFileAndOnTheDevice) {
  SimulatedDisk disk;
  const auto file = *disk.create("/a");
  ASSERT_TRUE(file->append("ab").ok());
  disk.flip_bit("/a", 8);
  std::string got(2, ' ');
  ASSERT_TRUE(file->read_at(0, got.data(), 2).ok());
  EXPECT_EQ(got, "ac");
  EXPECT_EQ(after_cut(disk, UnsyncedBytes::kLost), "ac");
  disk.replace("/a", "other");
  EXPECT_EQ(after_cut(disk, UnsyncedBytes::kLost), "other");
}

TEST(SimulatedDisk, APowerCutIsTheSameForTheSameSeedAndBreaksLocks) {
  SimulatedDisk disk;
  const auto file = *disk.create("/a");
  ASSERT_TRUE(file->lock().ok());
  ASSERT_TRUE(file->append(std::string(5000, 'x')).ok());
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    EXPECT_EQ(after_cut(disk, UnsyncedBytes::kAny, seed),
              after_cut(disk, UnsyncedBytes::kAny, seed));
  }
  const auto cut = disk.power_cut({UnsyncedBytes::kKept, UnsyncedNames::kKept});
  EXPECT_TRUE((*cut->open_to_write("/a"))->lock().ok());
}

TEST(SimulatedDisk, ThreadsCanUseItTogether) {
  SimulatedDisk disk;
  ASSERT_TRUE((*disk.create("/shared"))->append("shared").ok());
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&disk, name = "/" + std::to_string(i)] {
      const auto file = *disk.create(name);
      for (int round = 0; round < 200; ++round) {
        EXPECT_TRUE(file->append("x").ok());
        EXPECT_TRUE(file->sync().ok());
        EXPECT_EQ(*read_whole(disk, "/shared"), "shared");
        (void)disk.power_cut({});
      }
    });
  }
  threads.clear();
  EXPECT_EQ(read_whole(disk, "/3")->size(), 200U);
}

}  // namespace
}  // namespace kin
