// S3Files against s3rver, and through the proxy that makes things go wrong.
#include "cloud/s3_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <thread>

#include "base/random.h"
#include "cloud/testing/fault_proxy.h"
#include "cloud/testing/services.h"

namespace kin::cloud {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string random_bytes(std::size_t size, std::uint64_t seed = 1) {
  Random random(seed);
  std::string out(size, '\0');
  for (char& c : out) c = static_cast<char>(random.next());
  return out;
}

class S3FilesTest : public ::testing::Test {
 protected:
  S3FilesTest() : proxy_("s3rver", {"bucket"}, {"--faults", kHttpFaults}) {}

  S3FilesOptions options(std::uint64_t copy_bytes = 0) const {
    return {.cloud = proxy_.options(),
            .style = S3Options::Style::kPath,
            .folder = folder_.path(),
            .copy_bytes = copy_bytes};
  }
  std::filesystem::path write(const std::string& bytes) const {
    const auto path = folder_.path() / "file";
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }
  // Puts an object and finds it.
  data::RemoteFile put(S3Files& files, const std::string& name, const std::string& bytes) const {
    auto upload = files.upload(write(bytes), name);
    EXPECT_TRUE(upload.ok()) << upload.error().message;
    const Status published = (*upload)->publish();
    EXPECT_TRUE(published.ok()) << published.error().message;
    return files.look(name).value().value();
  }

  FaultProxy proxy_;
  TemporaryFolder folder_ = TemporaryFolder::create().value();
};

TEST_F(S3FilesTest, ReadsAnywhereFromSeveralThreads) {
  const std::string bytes = random_bytes((7 << 20) + 123);
  S3Files files(options(), system_clock(), 1);
  const auto found = put(files, "s3://bucket/a/b.bin", bytes);
  EXPECT_EQ(found.bytes, bytes.size());
  auto file = files.open(found);
  ASSERT_TRUE(file.ok());
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      Random random(static_cast<std::uint64_t>(thread));
      for (int i = 0; i < 30; ++i) {
        const std::size_t offset = random.next() % bytes.size();
        const std::size_t count =
            random.next() % std::min<std::size_t>(3 << 20, bytes.size() - offset);
        std::string part(count, '\0');
        ASSERT_TRUE(file->read_at(offset, part.data(), count).ok());
        ASSERT_TRUE(part == bytes.substr(offset, count)) << offset << " " << count;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  char beyond = 0;
  EXPECT_EQ(file->read_at(bytes.size(), &beyond, 1).error().code, Code::kDataLoss);
}

TEST_F(S3FilesTest, FetchesAgainWhatItHadNoRoomFor) {
  const std::string bytes = random_bytes(9 << 20);
  S3Files files(options(2 << 20), system_clock(), 1);
  auto file = files.open(put(files, "s3://bucket/large", bytes));
  ASSERT_TRUE(file.ok());
  for (int round = 0; round < 2; ++round) {
    std::string read(bytes.size(), '\0');
    ASSERT_TRUE(file->read_at(0, read.data(), read.size()).ok());
    EXPECT_TRUE(read == bytes);
  }
  EXPECT_GE(files.counts().requests, 18U);
}

TEST_F(S3FilesTest, FetchesNothingTwiceWhereThereIsRoom) {
  S3FilesOptions how = options();
  const auto server = start_service("s3rver", {"bucket"});
  how.cloud = test_options("http://localhost:" + std::to_string(server->port()));
  S3Files files(how, system_clock(), 1);
  const auto found = put(files, "s3://bucket/small", random_bytes(3 << 20));
  const std::uint64_t before = files.counts().requests;
  std::string read(found.bytes, '\0');
  for (int round = 0; round < 3; ++round) {
    const auto file = files.open(found);
    ASSERT_TRUE(file.ok() && file->read_at(0, read.data(), read.size()).ok());
  }
  EXPECT_EQ(files.counts().requests - before, 3U);  // of 1 MiB each
}

TEST_F(S3FilesTest, NoticesAnObjectThatWasReplaced) {
  S3Files files(options(), system_clock(), 1);
  const auto found = put(files, "s3://bucket/changes", random_bytes(3 << 20, 1));
  auto file = files.open(found);
  put(files, "s3://bucket/changes", random_bytes(3 << 20, 2));
  char byte = 0;
  const Status read = file->read_at(0, &byte, 1);
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().code, Code::kFailedPrecondition);
  EXPECT_THAT(read.error().message, HasSubstr("changed while it was read"));
}

TEST_F(S3FilesTest, ShowsAnUploadWhenItIsPublished) {
  S3Files files(options(), system_clock(), 1);
  for (const std::size_t size : {std::size_t{0}, std::size_t{1000}, std::size_t{17} << 20}) {
    const std::string name = "s3://bucket/out/" + std::to_string(size);
    const std::string bytes = random_bytes(size);
    auto upload = files.upload(write(bytes), name);
    ASSERT_TRUE(upload.ok()) << upload.error().message;
    EXPECT_EQ(files.look(name).value(), std::nullopt);
    ASSERT_TRUE((*upload)->publish().ok());
    EXPECT_EQ(files.read(name).value(), bytes);
    const auto copy = files.copy(files.look(name).value().value());
    ASSERT_TRUE(copy.ok()) << copy.error().message;
    EXPECT_TRUE(read_file(*copy).value() == bytes);
  }
  {
    EXPECT_TRUE(files.upload(write(random_bytes(17 << 20)), "s3://bucket/out/never").ok());
  }
  const auto listed = files.list("s3://bucket/out/");
  ASSERT_TRUE(listed.ok());
  std::vector<std::string> names;
  for (const auto& file : *listed) names.push_back(file.name);
  EXPECT_THAT(names,
              ElementsAre("s3://bucket/out/0", "s3://bucket/out/1000", "s3://bucket/out/17825792"));
}

TEST_F(S3FilesTest, SaysWhereItMayNotWrite) {
  S3Files files(options(), system_clock(), 1);
  EXPECT_TRUE(files.check_writable("s3://bucket/new").ok());
  EXPECT_EQ(files.look("s3://bucket/new").value(), std::nullopt);
  EXPECT_EQ(files.check_writable("s3://other/new").error().code, Code::kNotFound);
  EXPECT_EQ(files.check_writable("s3://").error().code, Code::kInvalidArgument);
}

}  // namespace
}  // namespace kin::cloud
