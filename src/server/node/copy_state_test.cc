#include "server/node/copy_state.h"

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/hash.h"

namespace kin::server {
namespace {

// A change here is a change of format: raise the version and keep reading the old one.
TEST(CopyState, BytesStayAsTheyWere) {
  const CopyState state{.role = CopyState::Role::kOwner,
                        .holder = 7,
                        .made_here = true,
                        .clean = router::LogPosition{.term = 3, .number = 9}};
  std::string bytes("KCOP");
  append_le(bytes, std::uint16_t{1});
  append_le(bytes, std::uint8_t{4});
  append_le(bytes, std::uint64_t{7});
  append_le(bytes, std::uint8_t{3});
  append_le(bytes, std::uint64_t{3});
  append_le(bytes, std::uint64_t{9});
  append_le(bytes, checksum(bytes));
  EXPECT_EQ(encode(state), bytes);
  EXPECT_EQ(*decode_copy_state(bytes), state);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 16);
    EXPECT_FALSE(decode_copy_state(damaged).ok()) << i;
    EXPECT_FALSE(decode_copy_state(bytes.substr(0, i)).ok()) << i;
  }
}

TEST(CopyState, IsKeptInTheFolderOfTheCopy) {
  const auto scratch = std::move(*TemporaryFolder::create());
  EXPECT_FALSE(read_copy_state(scratch.path() / "none")->has_value());
  const CopyState state{.role = CopyState::Role::kCopy, .holder = 9};
  ASSERT_TRUE(write_copy_state(scratch.path() / "a" / "b", state).ok());
  EXPECT_EQ(**read_copy_state(scratch.path() / "a" / "b"), state);
}

}  // namespace
}  // namespace kin::server
