#include "data/timestamp.h"

#include <gtest/gtest.h>

namespace kin::data {
namespace {

TEST(Timestamp, ReadsSecondsAndMilliseconds) {
  EXPECT_EQ(parse_timestamp("1394470370"), 1394470370);
  EXPECT_EQ(parse_timestamp("1394470370.9"), 1394470370);
  EXPECT_EQ(parse_timestamp("1394470370987"), 1394470370);
  EXPECT_EQ(parse_timestamp("-5"), -5);
}

TEST(Timestamp, WritesWhatItReads) {
  for (const char* text : {"2014-03-10T16:52:50Z", "1970-01-01T00:00:00Z", "1958-12-01T23:59:59Z",
                           "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"})
    EXPECT_EQ(format_timestamp(*parse_timestamp(text)), text);
}

TEST(Timestamp, ReadsIsoDatesAndTimes) {
  EXPECT_EQ(parse_timestamp("1970-01-02"), 86400);
  EXPECT_EQ(parse_timestamp("2014-03-10T16:52:50Z"), 1394470370);
  EXPECT_EQ(parse_timestamp("2014-03-10 16:52:50"), 1394470370);
  EXPECT_EQ(parse_timestamp("2014-03-10T18:52:50.123+02:00"), 1394470370);
  EXPECT_EQ(parse_timestamp("2014-03-10T11:52:50-0500"), 1394470370);
}

TEST(Timestamp, RefusesWhatIsNoTime) {
  for (const char* text : {"", "yesterday", "2014-13-01", "2014-02-30", "2014-03-10T25:00",
                           "2014-03-10T16:52:50 o'clock", "1e300", "nan", "12 o'clock"})
    EXPECT_FALSE(parse_timestamp(text)) << text;
}

}  // namespace
}  // namespace kin::data
