#include "cloud/s3/protocol.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/ascii.h"
#include "cloud/s3/xml.h"
#include "cloud/signing/sigv4.h"

namespace kin::cloud {
namespace {

constexpr std::size_t kLongestKey = 1024;

// The form of "encoding-type=url", in which '+' may stand for a space.
std::string decoded_key(std::string_view text) {
  std::string spaced(text);
  std::ranges::replace(spaced, '+', ' ');
  return uri_decoded(spaced);
}

bool is_throttle(std::string_view code) {
  constexpr std::string_view kCodes[] = {"SlowDown", "TooManyRequests", "ThrottlingException",
                                         "Throttling", "RequestLimitExceeded"};
  return std::ranges::find(kCodes, code) != std::end(kCodes);
}

// Codes of temporary failures, whatever their status is.
bool may_pass(std::string_view code) {
  constexpr std::string_view kCodes[] = {"ConditionalRequestConflict",
                                         "OperationAborted",
                                         "RequestTimeout",
                                         "BadDigest",
                                         "InternalError",
                                         "XAmzContentSHA256Mismatch"};
  return std::ranges::find(kCodes, code) != std::end(kCodes);
}

Verdict verdict_of(int status, std::string_view code) {
  if (status == 429 || is_throttle(code)) return Verdict::kThrottled;
  if (code == "RequestTimeTooSkewed") return Verdict::kSkewed;
  if (status >= 500 || may_pass(code)) return Verdict::kRetry;
  return status / 100 == 2 ? Verdict::kDone : Verdict::kFailed;
}

}  // namespace

std::string unquoted(std::string_view etag) {
  return std::string(trimmed(etag, "\""));
}

std::string s3_url(const CloudOptions& options, const S3Options& bucket, std::string_view key,
                   std::string_view query) {
  std::string origin = options.endpoint.empty()
                           ? fmt::format("https://s3.{}.amazonaws.com", options.region)
                           : options.endpoint;
  while (origin.ends_with('/')) origin.pop_back();
  std::string path = "/" + uri_encoded(key, "/");
  if (bucket.style == S3Options::Style::kVirtualHost)
    origin.insert(origin.find("//") + 2, bucket.bucket + ".");
  else
    path = "/" + bucket.bucket + (key.empty() ? "" : path);
  return fmt::format("{}{}{}{}", origin, path, query.empty() ? "" : "?", query);
}

Status check_key(std::string_view key) {
  const Error wrong{Code::kInvalidArgument,
                    fmt::format("\"{}\" cannot be a key: a key has 1 to 1024 bytes and no part "
                                "\".\" or \"..\"",
                                key.substr(0, 100))};
  if (key.empty() || key.size() > kLongestKey) return wrong;
  for (std::string_view rest = key; !rest.empty();) {
    const std::string_view segment = take_until(rest, "/");
    if (segment == "." || segment == "..") return wrong;
  }
  return Done{};
}

std::string s3_error_code(const net::HttpResponse& response) {
  const auto root = parse_xml(response.body);
  return root && root->name == "Error" ? std::string(root->text_of("Code")) : "";
}

Verdict judge_s3(const net::HttpResponse& response) {
  if (response.status / 100 == 2) return Verdict::kDone;
  return verdict_of(response.status, s3_error_code(response));
}

Verdict judge_s3_body(const net::HttpResponse& response) {
  const std::string code = s3_error_code(response);
  if (response.status == 200 && !code.empty()) return verdict_of(500, code);
  return verdict_of(response.status, code);
}

Error s3_error(std::string_view what, const Answer& answer) {
  const net::HttpResponse& response = answer.response;
  const auto root = parse_xml(response.body);
  const std::string code = s3_error_code(response);
  const std::string_view message = code.empty() ? std::string_view() : root->text_of("Message");
  const std::string text =
      fmt::format("{}: S3 answered with status {}{}{}{}{}", what, response.status,
                  code.empty() ? "" : " ", code, message.empty() ? "" : ": ", message);
  const std::string_view region = response.header("x-amz-bucket-region");
  if ((response.status == 301 || response.status == 307 || response.status == 400) &&
      !region.empty())
    return {Code::kFailedPrecondition,
            fmt::format("{} (the bucket is in region {}: set that region)", text, region)};
  if (auto error = unfinished(answer.verdict, text)) return *error;
  if (response.status == 404) return {Code::kNotFound, text};
  if (response.status == 416) return {Code::kInvalidArgument, text};
  return {Code::kFailedPrecondition, text};
}

Result<ObjectPage> parse_object_page(std::string_view xml) {
  KIN_TRY(const XmlElement root, parse_xml(xml));
  if (root.name != "ListBucketResult")
    return Error{Code::kDataLoss, fmt::format("a list of objects is called \"{}\"", root.name)};
  const bool encoded = root.text_of("EncodingType") == "url";
  ObjectPage page;
  for (const XmlElement& element : root.children) {
    if (element.name != "Contents") continue;
    const auto size = parse_number<std::uint64_t>(element.text_of("Size"));
    const std::string_view key = element.text_of("Key");
    if (!size || key.empty())
      return Error{Code::kDataLoss, "a list of objects has one without key or size"};
    page.objects.push_back({.key = encoded ? decoded_key(key) : std::string(key),
                            .size = *size,
                            .etag = unquoted(element.text_of("ETag"))});
  }
  if (root.text_of("IsTruncated") == "true") {
    page.next = root.text_of("NextContinuationToken");
    if (page.next.empty())
      return Error{Code::kDataLoss, "a list of objects is truncated and has no continuation token"};
  }
  return page;
}

std::string complete_upload_body(const std::vector<std::string>& etags) {
  std::string out = "<CompleteMultipartUpload>";
  for (std::size_t i = 0; i < etags.size(); ++i)
    out += fmt::format("<Part><PartNumber>{}</PartNumber><ETag>&quot;{}&quot;</ETag></Part>", i + 1,
                       xml_escaped(etags[i]));
  return out + "</CompleteMultipartUpload>";
}

}  // namespace kin::cloud
