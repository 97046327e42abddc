// The wire format of S3: addresses, errors and lists.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "cloud/calls/caller.h"
#include "cloud/s3_client.h"
#include "net/http_client.h"

namespace kin::cloud {

// The URL of the bucket, or of an object in it.
std::string s3_url(const CloudOptions& options, const S3Options& bucket, std::string_view key,
                   std::string_view query);
Status check_key(std::string_view key);

// The code of an error ("SlowDown"); empty if the answer has none.
std::string s3_error_code(const net::HttpResponse& response);
Verdict judge_s3(const net::HttpResponse& response);
// For calls that may fail with status 200: the body tells.
Verdict judge_s3_body(const net::HttpResponse& response);
// The error for an answer that is not a success, in plain words.
Error s3_error(std::string_view what, const Answer& answer);

// An answer of ListObjectsV2.
Result<ObjectPage> parse_object_page(std::string_view xml);
// The body of CompleteMultipartUpload.
std::string complete_upload_body(const std::vector<std::string>& etags);

std::string unquoted(std::string_view etag);

}  // namespace kin::cloud
