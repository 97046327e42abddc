#include "cloud/s3/protocol.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kin::cloud {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

net::HttpResponse answer_of(int status, const std::string& code) {
  net::HttpResponse response;
  response.status = status;
  if (!code.empty())
    response.body = "<Error><Code>" + code + "</Code><Message>why</Message></Error>";
  return response;
}

TEST(S3Protocol, AddressesObjectsInBothStyles) {
  const S3Options path{.bucket = "b", .style = S3Options::Style::kPath};
  EXPECT_EQ(s3_url({.endpoint = "http://h:1/"}, path, "a b/\u00e9+", "x=1"),
            "http://h:1/b/a%20b/%C3%A9%2B?x=1");
  EXPECT_EQ(s3_url({.endpoint = "http://h:1"}, path, "", "x"), "http://h:1/b?x");
  const S3Options host{.bucket = "b"};
  EXPECT_EQ(s3_url({.region = "eu-west-1"}, host, "k", ""),
            "https://b.s3.eu-west-1.amazonaws.com/k");
}

TEST(S3Protocol, RefusesKeysThatUrlsCannotCarry) {
  for (const char* wrong : {"", ".", "..", "a/../b", "a/.", "./a"})
    EXPECT_FALSE(check_key(wrong).ok()) << wrong;
  EXPECT_FALSE(check_key(std::string(1025, 'a')).ok());
  for (const char* right : {"a", "/", "a//b", "a/", "..a/b..", "\x01"})
    EXPECT_TRUE(check_key(right).ok()) << right;
}

TEST(S3Protocol, JudgesAnswersByTheirCode) {
  EXPECT_EQ(judge_s3(answer_of(200, "")), Verdict::kDone);
  EXPECT_EQ(judge_s3(answer_of(503, "SlowDown")), Verdict::kThrottled);
  EXPECT_EQ(judge_s3(answer_of(503, "")), Verdict::kRetry);
  EXPECT_EQ(judge_s3(answer_of(409, "ConditionalRequestConflict")), Verdict::kRetry);
  EXPECT_EQ(judge_s3(answer_of(412, "PreconditionFailed")), Verdict::kFailed);
  EXPECT_EQ(judge_s3(answer_of(403, "RequestTimeTooSkewed")), Verdict::kSkewed);
  EXPECT_EQ(judge_s3(answer_of(404, "NoSuchKey")), Verdict::kFailed);
  // An upload may fail after its status was sent. An object may look like an error.
  EXPECT_EQ(judge_s3_body(answer_of(200, "InternalError")), Verdict::kRetry);
  EXPECT_EQ(judge_s3(answer_of(200, "InternalError")), Verdict::kDone);
}

TEST(S3Protocol, SaysWhichRegionABucketIsIn) {
  net::HttpResponse moved = answer_of(301, "PermanentRedirect");
  moved.headers.push_back({"x-amz-bucket-region", "eu-west-1"});
  const Error error = s3_error("b", {.response = moved, .verdict = Verdict::kFailed});
  EXPECT_EQ(error.code, Code::kFailedPrecondition);
  EXPECT_THAT(error.message, HasSubstr("set that region"));
}

TEST(S3Protocol, ReadsPagesOfObjects) {
  const auto page = parse_object_page(
      "<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Name>b</Name>"
      "<EncodingType>url</EncodingType><IsTruncated>true</IsTruncated>"
      "<NextContinuationToken>t=</NextContinuationToken><Contents><Key>a%20b+%2B%01</Key>"
      "<Size>7</Size><ETag>&quot;e&quot;</ETag></Contents></ListBucketResult>");
  ASSERT_TRUE(page.ok()) << page.error().message;
  EXPECT_THAT(page->objects, ElementsAre(ObjectInfo{.key = "a b +\x01", .size = 7, .etag = "e"}));
  EXPECT_EQ(page->next, "t=");
  for (const char* wrong :
       {"<Other/>", "<ListBucketResult><Contents><Key>k</Key></Contents></ListBucketResult>",
        "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>"})
    EXPECT_FALSE(parse_object_page(wrong).ok()) << wrong;
}

}  // namespace
}  // namespace kin::cloud
