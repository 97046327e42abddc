// AWS Signature Version 4: proves with an HMAC over a request that its sender has the secret key.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/create-signed-request.html
#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "cloud/cloud_options.h"
#include "net/header_fields.h"

namespace kin::cloud {

// The scope of a signature.
struct SigningScope {
  std::string region;
  std::string service;  // "s3", "dynamodb"
};

// The parts of a request that are signed, as they are sent. Views: the texts must outlive it.
struct SignedParts {
  std::string_view method;
  std::string_view host;   // with a port unless the scheme implies it
  std::string_view path;   // with percent codes
  std::string_view query;  // without '?'; empty for none
  std::string_view payload_hash;
  const std::vector<net::Header>& headers;
};

// A body whose hash is not signed. Only for TLS.
inline constexpr std::string_view kUnsignedPayload = "UNSIGNED-PAYLOAD";

// "20150830T123600Z".
std::string amazon_time(WallTime time);

// Everything but letters, digits, '-', '.', '_' and '~' as percent codes in upper case; the
// characters in `keep` are kept too.
std::string uri_encoded(std::string_view text, std::string_view keep = "");
// The text that percent codes stand for. A '%' without two digits stands for itself.
std::string uri_decoded(std::string_view text);

// The text whose hash is signed. `headers` must contain all signed headers but the host. Only S3
// uses the path as it is; other services encode it a second time.
std::string canonical_request(const SignedParts& parts, const SigningScope& scope);

// The headers that sign a request: X-Amz-Date, X-Amz-Content-Sha256 (S3), X-Amz-Security-Token (if
// there is a token) and Authorization. All headers in `parts` are signed, except those that
// proxies may change (User-Agent, Connection, Expect, Accept-Encoding).
std::vector<net::Header> signature_headers(const SignedParts& parts, const SigningScope& scope,
                                           const AwsCredentials& credentials, WallTime time);

// Signs many requests of one scope: derives the key of a day once. Thread-safe.
class Signer {
 public:
  explicit Signer(SigningScope scope) : scope_(std::move(scope)) {}

  // See signature_headers().
  std::vector<net::Header> sign(const SignedParts& parts, const AwsCredentials& credentials,
                                WallTime time);

 private:
  std::string key_of(const std::string& secret, const std::string& date);

  const SigningScope scope_;
  std::mutex mutex_;
  std::string secret_;  // with the date, what `key_` was derived from
  std::string date_;
  std::string key_;
};

}  // namespace kin::cloud
