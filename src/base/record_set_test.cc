#include "base/record_set.h"

#include <gtest/gtest.h>

namespace kin {
namespace {

TEST(RecordSet, CountsWhatIsInItWhateverItsSize) {
  for (const std::size_t size : {0U, 1U, 63U, 64U, 65U, 200U}) {
    EXPECT_EQ(RecordSet(size).count(), 0);
    EXPECT_EQ(RecordSet(size, true).count(), size);
  }
  RecordSet some(130, true);
  some.erase(RecordId{129});
  some.erase(RecordId{0});
  some.insert(RecordId{0});
  EXPECT_EQ(some.count(), 129);
  EXPECT_FALSE(some.contains(RecordId{129}));
  EXPECT_FALSE(some.contains(RecordId{130}));
}

}  // namespace
}  // namespace kin
