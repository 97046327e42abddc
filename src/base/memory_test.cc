#include "base/memory.h"

#include <gtest/gtest.h>

namespace kin {
namespace {

TEST(ParseBytes, TakesWhatPeopleWrite) {
  EXPECT_EQ(*parse_bytes("2GiB"), 2ULL << 30);
  EXPECT_EQ(*parse_bytes("1.5 gb"), 1'500'000'000ULL);
  EXPECT_EQ(*parse_bytes("512M"), 512ULL << 20);
  EXPECT_EQ(*parse_bytes("300000"), 300'000ULL);
}

TEST(ParseBytes, RefusesWhatIsNoAmount) {
  for (const char* text :
       {"", "GiB", "-1GiB", "2 gigs", "2GiBs", "1e400", "999999999TB", "nan", "inf"}) {
    EXPECT_FALSE(parse_bytes(text).ok()) << text;
  }
}

TEST(FormatBytes, IsForPeople) {
  EXPECT_EQ(format_bytes(999), "999 B");
  EXPECT_EQ(format_bytes(3ULL << 29), "1.50 GiB");
}

TEST(ResidentBytes, GrowsWithWhatIsTouched) {
  const std::uint64_t before = resident_bytes();
  std::string block(64 << 20, 'x');
  EXPECT_GE(resident_bytes(), before + (32 << 20));
  EXPECT_GE(peak_resident_bytes(), before + block.size() / 2);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // whose allocators are others
TEST(AllocatedBytes, FollowWhatIsAllocatedAndFreed) {
  const std::uint64_t before = allocated_bytes();
  {
    const std::string block(64 << 20, 'x');
    EXPECT_GE(allocated_bytes(), before + block.size());
  }
  EXPECT_LT(allocated_bytes(), before + (32 << 20));
}
#endif

}  // namespace
}  // namespace kin
