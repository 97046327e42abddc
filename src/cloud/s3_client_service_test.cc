// S3Client against s3rver, which checks signatures of requests in path style. Features that s3rver
// gets wrong are tested through the proxy of tests/services: virtual hosts, '!()*' in queries, '&'
// in lists.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "cloud/s3_client.h"
#include "cloud/testing/services.h"

namespace kin::cloud {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string random_bytes(std::size_t size) {
  Random random(size);
  std::string out(size, '\0');
  for (char& c : out) c = static_cast<char>(random.next());
  return out;
}

S3Client::Source source_of(const std::string& bytes) {
  return [&bytes, at = std::size_t{0}](std::span<char> into) mutable -> Result<std::size_t> {
    const std::size_t count =
        bytes.copy(into.data(), std::min<std::size_t>(into.size(), 100'000), at);
    at += count;
    return count;
  };
}

class S3ClientTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { server = start_service("s3rver", {"bucket"}).release(); }
  static void TearDownTestSuite() { delete server; }

  std::string endpoint() const { return "http://localhost:" + std::to_string(server->port()); }
  S3Options bucket() const { return {.bucket = "bucket", .style = S3Options::Style::kPath}; }

  static net::TestServer* server;
  S3Client client_{test_options(endpoint()), bucket(), system_clock(), 1};
};

net::TestServer* S3ClientTest::server = nullptr;

TEST_F(S3ClientTest, KeepsWhatItIsGiven) {
  const std::string bytes = random_bytes(300'000);
  ASSERT_TRUE(client_.put("a/b.bin", bytes).ok());
  const auto got = client_.get("a/b.bin");
  ASSERT_TRUE(got.ok()) << got.error().message;
  EXPECT_EQ(*got, bytes);
  const auto info = client_.head("a/b.bin");
  ASSERT_TRUE(info.ok() && *info);
  EXPECT_EQ((*info)->size, bytes.size());
  EXPECT_TRUE(client_.remove("a/b.bin").ok());
  EXPECT_EQ(*client_.get("a/b.bin"), std::nullopt);
  EXPECT_EQ(*client_.head("a/b.bin"), std::nullopt);
  EXPECT_TRUE(client_.remove("a/b.bin").ok());
}

TEST_F(S3ClientTest, SignsOddKeys) {
  for (const char* key : {"a b", "a+b", "a=b&c", "\u00e9/\u6f22", "100%", "%41", "a:b@c", "(x)*!'~",
                          "a;b,c", "tab\tb"}) {
    const Status put = client_.put(key, key);
    ASSERT_TRUE(put.ok()) << put.error().message;
    const auto got = client_.get(key);
    ASSERT_TRUE(got.ok()) << got.error().message;
    EXPECT_EQ(*got, key);
    EXPECT_TRUE(client_.head(key).ok());
    if (std::string_view(key).find_first_of("&!()*") != std::string_view::npos) continue;
    const auto page = client_.list(key);
    ASSERT_TRUE(page.ok()) << page.error().message;
    ASSERT_EQ(page->objects.size(), 1U) << key;
    EXPECT_EQ(page->objects[0].key, key);
    EXPECT_TRUE(client_.remove(key).ok());
  }
}

TEST_F(S3ClientTest, ReadsRangesTogether) {
  const std::string bytes = random_bytes(500'000);
  ASSERT_TRUE(client_.put("ranges", bytes).ok());
  const auto parts = client_.get_ranges(
      "ranges", std::vector<ByteRange>{{100'000, 200'000}, {0, 2}, {499'999, 1}});
  ASSERT_TRUE(parts.ok()) << parts.error().message;
  EXPECT_THAT(*parts, ElementsAre(bytes.substr(100'000, 200'000), bytes.substr(0, 2),
                                  bytes.substr(499'999)));
  for (const ByteRange wrong : {ByteRange{499'999, 2}, {500'000, 1}, {0, 0}})
    EXPECT_EQ(client_.get_ranges("ranges", std::span(&wrong, 1)).error().code,
              Code::kInvalidArgument);
  const ByteRange any{0, 1};
  EXPECT_EQ(client_.get_ranges("absent", std::span(&any, 1)).error().code, Code::kNotFound);
}

TEST_F(S3ClientTest, ListsPageByPage) {
  for (int i = 0; i < 7; ++i) ASSERT_TRUE(client_.put("list/" + std::to_string(i), "x").ok());
  std::string keys;
  std::string next;
  int pages = 0;
  do {
    const auto page = client_.list("list/", next, 3);
    ASSERT_TRUE(page.ok()) << page.error().message;
    for (const ObjectInfo& object : page->objects) keys += object.key.substr(5);
    next = page->next;
    ++pages;
  } while (!next.empty());
  EXPECT_EQ(keys, "0123456");
  EXPECT_EQ(pages, 3);
  EXPECT_THAT(client_.list("no such prefix")->objects, IsEmpty());
}

TEST_F(S3ClientTest, UploadsInParts) {
  S3Options options = bucket();
  options.part_bytes = std::uint64_t{5} << 20;
  S3Client client(test_options(endpoint()), options, system_clock(), 2);
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{100}, std::size_t{5} << 20, (std::size_t{5} << 20) * 6 + 1}) {
    const std::string bytes = random_bytes(size);
    const Status done = client.upload("large", source_of(bytes));
    ASSERT_TRUE(done.ok()) << done.error().message;
    EXPECT_EQ(*client.get("large"), bytes) << size;
  }
}

TEST_F(S3ClientTest, LeavesNothingOfAnUploadThatFails) {
  int calls = 0;
  const Status failed = client_.upload("never", [&](std::span<char> into) -> Result<std::size_t> {
    if (++calls > 2) return Error{Code::kUnavailable, "the disk is gone"};
    std::ranges::fill(into, 'x');
    return into.size();
  });
  EXPECT_THAT(failed.error().message, HasSubstr("the disk is gone"));
  EXPECT_EQ(*client_.get("never"), std::nullopt);
}

TEST_F(S3ClientTest, IsRefusedWithAnotherSecret) {
  CloudOptions options = test_options(endpoint());
  options.credentials.fixed->secret_key = "another";
  S3Client client(options, bucket(), system_clock(), 1);
  const Status refused = client.put("k", "v");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::kFailedPrecondition);
  EXPECT_THAT(refused.error().message, HasSubstr("SignatureDoesNotMatch"));
}

TEST_F(S3ClientTest, MakesBucketsAndSaysWhenThereIsNone) {
  S3Options options = bucket();
  options.bucket = "fresh";
  S3Client client(test_options(endpoint()), options, system_clock(), 1);
  EXPECT_EQ(client.get("k").error().code, Code::kNotFound);
  for (int i = 0; i < 2; ++i) {
    const Status made = client.create_bucket();
    EXPECT_TRUE(made.ok()) << made.error().message;
  }
  EXPECT_EQ(*client.get("k"), std::nullopt);
}

}  // namespace
}  // namespace kin::cloud
