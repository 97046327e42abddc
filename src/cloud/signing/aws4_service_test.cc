// Our signatures and those of npm aws4, over generated requests.
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/ascii.h"
#include "base/file.h"
#include "base/json_writer.h"
#include "base/random.h"
#include "base/testing/source_folder.h"
#include "base/utf8.h"
#include "cloud/signing/digest.h"
#include "cloud/signing/sigv4.h"

namespace kin::cloud {
namespace {

// Text with characters that encoders get wrong.
std::string odd_text(Random& random, std::size_t most) {
  constexpr std::u32string_view kCharacters =
      U"aZ09-._~ !\"#$%&'()*+,:;<=>?@[]^`{|}\\\x7f\x01/\u00e9\u0436\u6f22\U0001f600";
  std::string out;
  for (std::size_t i = random.below(most + 1); i > 0; --i)
    append_utf8(out, kCharacters[random.below(kCharacters.size())]);
  return out;
}

struct Generated {
  SigningScope scope;
  std::string method;
  std::string path;
  std::string query;
  std::vector<net::Header> headers;
  std::string body;
};

Generated generate(Random& random) {
  Generated out;
  out.scope = {.region = random.below(2) == 0 ? "eu-west-1" : "us-east-1",
               .service = random.below(3) == 0 ? "dynamodb" : "s3"};
  constexpr const char* kMethods[] = {"GET", "PUT", "POST", "DELETE", "HEAD"};
  out.method = kMethods[random.below(5)];
  // Paths of other services are normalised, which we do not need: only S3 has keys in paths.
  out.path = out.scope.service == "s3" ? "/" + uri_encoded(odd_text(random, 20), "/") : "/";
  for (std::uint64_t i = random.below(5); i > 0; --i) {
    out.query +=
        (out.query.empty() ? "" : "&") + uri_encoded("k" + std::to_string(i) + odd_text(random, 5));
    if (random.below(4) > 0) out.query += "=" + uri_encoded(odd_text(random, 8));
  }
  for (std::uint64_t i = random.below(4); i > 0; --i)
    out.headers.push_back({"X-Amz-Meta-" + std::string(random.below(4), 'a') + std::to_string(i),
                           " " + std::string(random.below(3), ' ') + "v  " + std::to_string(i)});
  out.body = odd_text(random, 30);
  return out;
}

TEST(SigV4, AgreesWithAws4OnGeneratedRequests) {
  constexpr int kRequests = 2000;
  const AwsCredentials keys{
      .access_key = "AKID", .secret_key = "s/e+c r=et", .session_token = "to/k"};
  const std::string host = "bucket.example.com:8443";
  const WallTime time{std::chrono::seconds(1'700'000'000)};
  Random random(15);
  std::string input;
  std::vector<std::string> ours;
  for (int i = 0; i < kRequests; ++i) {
    const Generated request = generate(random);
    const auto added = signature_headers({.method = request.method,
                                          .host = host,
                                          .path = request.path,
                                          .query = request.query,
                                          .payload_hash = to_hex(sha256(request.body)),
                                          .headers = request.headers},
                                         request.scope, keys, time);
    ours.emplace_back(net::find_header(added, "authorization").value());
    JsonWriter json;
    json.begin_object()
        .field("service", request.scope.service)
        .field("region", request.scope.region);
    json.field("method", request.method).field("host", host).field("body", request.body);
    json.field("path", request.path + (request.query.empty() ? "" : "?" + request.query));
    json.key("headers").begin_object();
    for (const net::Header& header : request.headers) json.field(header.name, header.value);
    for (const net::Header& header : added) {
      if (header.name != "Authorization") json.field(header.name, header.value);
    }
    json.end().key("keys").begin_object();
    json.field("accessKeyId", keys.access_key).field("secretAccessKey", keys.secret_key);
    json.field("sessionToken", keys.session_token).end().end();
    input += json.take() + "\n";
  }
  const TemporaryFolder folder = TemporaryFolder::create().value();
  ASSERT_TRUE(write_file_atomically(folder.path() / "in", input).ok());
  const std::string command = std::string("\"${KINDRED_NODE:-node}\" '") + source_folder() +
                              "/tests/services/sign.js' <'" + (folder.path() / "in").string() +
                              "' >'" + (folder.path() / "out").string() + "'";
  ASSERT_EQ(std::system(command.c_str()), 0) << "run scripts/setup";
  const auto output = read_file(folder.path() / "out");
  ASSERT_TRUE(output.ok());
  std::string_view rest = *output;
  for (int i = 0; i < kRequests; ++i) {
    ASSERT_EQ(take_until(rest, "\n"), ours[static_cast<std::size_t>(i)]) << "request " << i;
  }
  EXPECT_TRUE(rest.empty());
}

}  // namespace
}  // namespace kin::cloud
