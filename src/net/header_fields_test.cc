#include "net/header_fields.h"

#include <gtest/gtest.h>

namespace kin::net {
namespace {

using std::chrono::seconds;

TEST(HeaderLine, IsANameAndAValue) {
  EXPECT_EQ(parse_header_line("ETag:  \"x:y\" \r\n"), (Header{"ETag", "\"x:y\""}));
  EXPECT_EQ(parse_header_line("X-Empty:"), (Header{"X-Empty", ""}));
  for (const char* line : {"", "\r\n", "HTTP/1.1 200 OK", ": value", "bad name: x", "no colon"}) {
    EXPECT_EQ(parse_header_line(line), std::nullopt) << line;
  }
}

TEST(FindHeader, IgnoresCaseAndTakesTheLast) {
  const std::vector<Header> headers{{"Etag", "1"}, {"ETAG", "2"}};
  EXPECT_EQ(find_header(headers, "etag"), "2");
  EXPECT_EQ(find_header(headers, "et"), std::nullopt);
}

TEST(ContentType, HasATypeAndACharset) {
  EXPECT_EQ(parse_content_type("Text/XML; Charset=UTF-8"), (ContentType{"text/xml", "UTF-8"}));
  EXPECT_EQ(parse_content_type("text/html;x=\"a;charset=no\"; charset=\"koi8-r\""),
            (ContentType{"text/html", "koi8-r"}));
  EXPECT_EQ(parse_content_type("application/rss+xml"), (ContentType{"application/rss+xml", ""}));
  EXPECT_EQ(parse_content_type("nonsense; charset=x"), (ContentType{"", "x"}));
  EXPECT_EQ(parse_content_type(""), ContentType());
  EXPECT_EQ(parse_content_type(";;;=;\"").charset, "");
}

TEST(CacheControl, SaysHowLong) {
  EXPECT_EQ(parse_cache_control("public, Max-Age=600").max_age, seconds(600));
  EXPECT_EQ(parse_cache_control("max-age=\"60\", no-store"), (CacheControl{seconds(60), true}));
  EXPECT_EQ(parse_cache_control("s-maxage=600, max-age=-1").max_age, std::nullopt);
  EXPECT_EQ(parse_cache_control("max-age=x").max_age, std::nullopt);
  EXPECT_EQ(parse_cache_control("max-age=99999999999999999999").max_age, seconds(1LL << 31));
}

TEST(HeaderFields, ReadDatesOfServers) {
  using std::chrono::seconds;
  EXPECT_EQ(parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT")->time_since_epoch(),
            seconds(784'111'777));
  for (const char* wrong : {"", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 UTC",
                            "Sun, 31 Feb 1994 08:49:37 GMT", "Sun, 06 ovD 1994 08:49:37 GMT",
                            "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 06 Nov -994 08:49:37 GMT"})
    EXPECT_FALSE(parse_http_date(wrong)) << wrong;
}

}  // namespace
}  // namespace kin::net
