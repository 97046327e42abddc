#include "cloud/signing/sigv4.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/ascii.h"
#include "cloud/signing/digest.h"

namespace kin::cloud {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

const AwsCredentials kSuiteKeys{.access_key = "AKIDEXAMPLE",
                                .secret_key = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"};
const AwsCredentials kS3Keys{.access_key = "AKIAIOSFODNN7EXAMPLE",
                             .secret_key = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"};
constexpr WallTime kSuiteTime{std::chrono::seconds(1'440'938'160)};
constexpr WallTime kS3Time{std::chrono::seconds(1'369'353'600)};

struct Example {
  std::string name;
  std::string method;
  std::string path;
  std::string query;
  std::vector<net::Header> headers;
  std::string body;
  std::string signature;
};

std::string authorization(const Example& example, const SigningScope& scope,
                          const AwsCredentials& keys, WallTime time, const std::string& host) {
  const auto added = signature_headers({.method = example.method,
                                        .host = host,
                                        .path = example.path,
                                        .query = example.query,
                                        .payload_hash = to_hex(sha256(example.body)),
                                        .headers = example.headers},
                                       scope, keys, time);
  return std::string(net::find_header(added, "authorization").value_or(""));
}

TEST(SigV4, ASignerSignsAsWithoutItOnOtherDaysAndWithOtherKeys) {
  const SigningScope scope{.region = "us-east-1", .service = "dynamodb"};
  const std::vector<net::Header> headers{{"X-Amz-Target", "Query"}};
  const std::string hash = to_hex(sha256("{}"));
  const SignedParts parts{.method = "POST",
                          .host = "localhost",
                          .path = "/",
                          .query = "",
                          .payload_hash = hash,
                          .headers = headers};
  Signer signer(scope);
  for (const AwsCredentials& keys : {kSuiteKeys, kS3Keys, kSuiteKeys}) {
    for (const WallTime time : {kSuiteTime, kS3Time, kS3Time}) {
      EXPECT_EQ(signer.sign(parts, keys, time)[1].value,
                signature_headers(parts, scope, keys, time)[1].value);
    }
  }
}

// AWS's test suite for signature version 4.
TEST(SigV4, SignsAsTheTestSuiteOfAwsDoes) {
  const std::vector<Example> examples{
      {"get-vanilla",
       "GET",
       "/",
       "",
       {},
       "",
       "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
      {"post-vanilla",
       "POST",
       "/",
       "",
       {},
       "",
       "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"},
      {"get-vanilla-query-order-key-case",
       "GET",
       "/",
       "Param2=value2&Param1=value1",
       {},
       "",
       "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"},
      {"get-utf8",
       "GET",
       "/\xE1\x88\xB4",
       "",
       {},
       "",
       "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85"},
      {"get-space",
       "GET",
       "/example space/",
       "",
       {},
       "",
       "652487583200325589f1fba4c7e578f72c47cb61beeca81406b39ddec1366741"},
      {"get-unreserved",
       "GET",
       "/-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
       "",
       {},
       "",
       "07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f"},
      {"get-vanilla-utf8-query",
       "GET",
       "/",
       "\xE1\x88\xB4=bar",
       {},
       "",
       "2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04"},
      {"get-header-key-duplicate",
       "GET",
       "/",
       "",
       {{"My-Header1", "value2"}, {"My-Header1", "value2"}, {"My-Header1", "value1"}},
       "",
       "c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea"},
      {"post-header-key-sort",
       "POST",
       "/",
       "",
       {{"My-Header1", "value1"}},
       "",
       "c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c"},
  };
  for (const Example& example : examples)
    EXPECT_THAT(authorization(example, {.region = "us-east-1", .service = "service"}, kSuiteKeys,
                              kSuiteTime, "example.amazonaws.com"),
                EndsWith("Signature=" + example.signature))
        << example.name;
}

TEST(SigV4, SignsSessionTokens) {
  AwsCredentials keys = kSuiteKeys;
  keys.session_token = "6e86291e8372ff2a2260956d9b8aae1d763fbf315fa00fa31553b73ebf194267";
  EXPECT_THAT(
      authorization({"", "GET", "/", "", {}, "", ""}, {.region = "us-east-1", .service = "service"},
                    keys, kSuiteTime, "example.amazonaws.com"),
      EndsWith("07ec1639c89043aa0e3e2de82b96708f198cceab042d4a97044c66dd9f74e7f8"));
}

// https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
TEST(SigV4, SignsAsTheExamplesOfS3Do) {
  const std::vector<Example> examples{
      {"GET object",
       "GET",
       "/test.txt",
       "",
       {{"Range", "bytes=0-9"}},
       "",
       "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"},
      {"PUT object",
       "PUT",
       "/test%24file.text",
       "",
       {{"Date", "Fri, 24 May 2013 00:00:00 GMT"}, {"x-amz-storage-class", "REDUCED_REDUNDANCY"}},
       "Welcome to Amazon S3.",
       "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"},
      {"GET lifecycle",
       "GET",
       "/",
       "lifecycle",
       {},
       "",
       "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"},
      {"List objects",
       "GET",
       "/",
       "max-keys=2&prefix=J",
       {},
       "",
       "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"},
  };
  for (const Example& example : examples)
    EXPECT_THAT(authorization(example, {.region = "us-east-1", .service = "s3"}, kS3Keys, kS3Time,
                              "examplebucket.s3.amazonaws.com"),
                EndsWith("Signature=" + example.signature))
        << example.name;
}

TEST(SigV4, SignsNoHeaderThatProxiesChange) {
  const std::string text = authorization(
      {"", "GET", "/", "", {{"User-Agent", "x"}, {"Expect", ""}, {"X-Mine", "y"}}, "", ""},
      {.region = "us-east-1", .service = "s3"}, kS3Keys, kS3Time, "host");
  EXPECT_THAT(text, HasSubstr("SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-mine,"));
}

TEST(SigV4, WritesTimesAsAmazonDoes) {
  EXPECT_EQ(amazon_time(kSuiteTime), "20150830T123600Z");
  EXPECT_EQ(amazon_time(WallTime(std::chrono::milliseconds(1'709'164'800'999))),
            "20240229T000000Z");
}

}  // namespace
}  // namespace kin::cloud
