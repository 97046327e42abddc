#include "dedup/output/input_digest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/file.h"

namespace kin::dedup {
namespace {

namespace fs = std::filesystem;

class InputDigestTest : public testing::Test {
 protected:
  void write(std::string_view bytes) const { std::ofstream(path_, std::ios::binary) << bytes; }
  std::vector<data::Input> inputs() const {
    return data::find_inputs(std::vector{path_.string()}, folder_.path()).value();
  }
  TemporaryFolder folder_ = *TemporaryFolder::create();
  fs::path path_ = folder_.path() / "a.jsonl";
};

TEST_F(InputDigestTest, FindsAnEditOfEqualSizeWhoseTimeWasRestored) {
  write("{\"text\":\"a\"}\n{\"text\":\"b\"}\n");
  const auto before = fs::last_write_time(path_);
  std::vector<InputDigest> digests;
  ASSERT_TRUE(extend_digests(inputs(), {.file = 0, .offset = 13}, digests).ok());
  EXPECT_TRUE(verify_digests(inputs(), digests).ok());
  write("{\"text\":\"x\"}\n{\"text\":\"b\"}\n");
  fs::last_write_time(path_, before);
  const Status changed = verify_digests(inputs(), digests);
  ASSERT_FALSE(changed.ok());
  EXPECT_THAT(changed.error().message, testing::HasSubstr("a.jsonl has other contents"));
  // Bytes that were not read yet may change.
  write("{\"text\":\"a\"}\n{\"text\":\"y\"}\n");
  fs::last_write_time(path_, before);
  EXPECT_TRUE(verify_digests(inputs(), digests).ok());
}

TEST_F(InputDigestTest, GrowsInStepsToTheSameHash) {
  write(std::string(9 << 20, 'x') + "end");
  std::vector<InputDigest> steps;
  for (const std::uint64_t offset : {100, 5 << 20, 9 << 20})
    ASSERT_TRUE(extend_digests(inputs(), {.offset = offset}, steps).ok());
  ASSERT_TRUE(extend_digests(inputs(), {.file = 1}, steps).ok());
  std::vector<InputDigest> at_once;
  ASSERT_TRUE(extend_digests(inputs(), {.file = 1}, at_once).ok());
  EXPECT_EQ(steps, at_once);
}

}  // namespace
}  // namespace kin::dedup
