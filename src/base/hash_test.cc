#include "base/hash.h"

#include <gtest/gtest.h>

namespace kin {
namespace {

// Stores and files keep these values: a change here makes every one of them unreadable.
TEST(Hash, NeverChanges) {
  EXPECT_EQ(hash64("kindred"), hash64("kindred", 0));
  EXPECT_EQ(hash128("kindred"), hash128("kindred", 0));
  EXPECT_EQ(hash64(""), 0x2d06800538d394c2ULL);
  EXPECT_EQ(hash128("").low, 0x6001c324468d497fULL);
  EXPECT_EQ(hash128("").high, 0x99aa06d3014798d8ULL);
}

TEST(Hash, DependsOnTheSeed) {
  EXPECT_NE(hash64("a", 1), hash64("a", 2));
}

}  // namespace
}  // namespace kin
