#include "base/time_text.h"

#include <gtest/gtest.h>

namespace kin {
namespace {

TEST(TimeText, IsIso8601InUtcWithMilliseconds) {
  EXPECT_EQ(iso_time(WallTime{}), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(iso_time(WallTime(std::chrono::milliseconds(1'772'368'205'250))),
            "2026-03-01T12:30:05.250Z");
  EXPECT_EQ(iso_time(WallTime(std::chrono::milliseconds(-1))), "1969-12-31T23:59:59.999Z");
}

}  // namespace
}  // namespace kin
