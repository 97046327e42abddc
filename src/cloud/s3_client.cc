#include "cloud/s3_client.h"

#include <fmt/format.h>

#include "base/ascii.h"
#include "cloud/calls/caller.h"
#include "cloud/s3/protocol.h"
#include "cloud/s3/upload.h"
#include "cloud/signing/digest.h"
#include "cloud/signing/sigv4.h"

namespace kin::cloud {
namespace {

bool is_missing_object(const Answer& answer) {
  // The answer to a HEAD has no body that could tell whether the bucket or the object is missing.
  const std::string code = s3_error_code(answer.response);
  return answer.response.status == 404 && (code.empty() || code == "NoSuchKey");
}

// Whether the object has another ETag than `etag`. Not every store honours If-Match.
bool is_another(const Answer& answer, const std::string& etag) {
  if (etag.empty()) return false;
  if (answer.response.status == 412) return true;
  return answer.verdict == Verdict::kDone && unquoted(answer.response.header("etag")) != etag;
}

}  // namespace

struct S3Client::State {
  State(CloudOptions options, S3Options given, Clock& clock, std::uint64_t seed)
      : bucket(std::move(given)),
        caller(std::move(options), {.name = "s3", .judge = &judge_s3}, clock, seed) {}

  std::string url(std::string_view key, std::string_view query = "") const {
    return s3_url(caller.options(), bucket, key, query);
  }
  Result<Answer> done(const std::string& what, Call call) {
    KIN_TRY(Answer answer, caller.call(std::move(call)));
    if (answer.verdict != Verdict::kDone) return s3_error(what, answer);
    return answer;
  }

  const S3Options bucket;
  Caller caller;
};

S3Client::S3Client(CloudOptions options, S3Options bucket, Clock& clock, std::uint64_t seed)
    : state_(std::make_unique<State>(std::move(options), std::move(bucket), clock, seed)) {}

S3Client::~S3Client() = default;

CallCounts S3Client::counts() const {
  return state_->caller.counts();
}

Status S3Client::create_bucket() {
  const std::string& region = state_->caller.options().region;
  // The oldest region must not be named.
  const std::string body =
      region == "us-east-1"
          ? ""
          : fmt::format(
                "<CreateBucketConfiguration><LocationConstraint>{}</LocationConstraint>"
                "</CreateBucketConfiguration>",
                region);
  KIN_TRY(const Answer answer,
          state_->caller.call({.method = "PUT", .url = state_->url(""), .body = body}));
  if (answer.verdict == Verdict::kDone) return Done{};
  // The name is taken. The bucket is ours if we may read it.
  if (answer.response.status == 409 && list("", "", 1).ok()) return Done{};
  return s3_error(state_->bucket.bucket, answer);
}

Result<std::optional<std::string>> S3Client::get(const std::string& key, std::uint64_t most_bytes) {
  KIN_RETURN_IF_ERROR(check_key(key));
  KIN_TRY(Answer answer, state_->caller.call(
                             {.method = "GET", .url = state_->url(key), .most_bytes = most_bytes}));
  if (is_missing_object(answer)) return std::optional<std::string>();
  if (answer.verdict != Verdict::kDone) return s3_error(key, answer);
  const std::string_view hash = answer.response.header(kContentHash);
  if (!hash.empty() && hash != to_hex(sha256(answer.response.body)))
    return Error{Code::kDataLoss, fmt::format("{}: its content has another SHA-256 than it was "
                                              "written with",
                                              key)};
  return std::optional(std::move(answer.response.body));
}

Result<std::vector<std::string>> S3Client::get_ranges(const std::string& key,
                                                      std::span<const ByteRange> ranges,
                                                      const std::string& etag) {
  KIN_RETURN_IF_ERROR(check_key(key));
  std::vector<std::string> parts(ranges.size());
  std::optional<Error> failure;
  CallBatch batch(state_->caller);
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const ByteRange range = ranges[i];
    if (range.size == 0) return Error{Code::kInvalidArgument, "an empty range of an object"};
    Call call{.method = "GET",
              .url = state_->url(key),
              .headers = {{"Range", fmt::format("bytes={}-{}", range.offset,
                                                range.offset + range.size - 1)}},
              .most_bytes = range.size + (std::uint64_t{64} << 10)};  // or the body of an error
    if (!etag.empty()) call.headers.push_back({"If-Match", "\"" + etag + "\""});
    batch.add(std::move(call), [&, i, range](Result<Answer> answer) {
      if (!answer)
        failure = answer.error();
      else if (is_another(*answer, etag))
        failure = Error{Code::kFailedPrecondition,
                        fmt::format("{} changed while it was read (run again)", key)};
      else if (answer->verdict != Verdict::kDone)
        failure = s3_error(key, *answer);
      else if (answer->response.status != 206 || answer->response.body.size() != range.size)
        failure = Error{Code::kInvalidArgument,
                        fmt::format("{}: has no {} bytes at {}", key, range.size, range.offset)};
      else
        parts[i] = std::move(answer->response.body);
    });
  }
  batch.run();
  if (failure) return *failure;
  return parts;
}

Result<std::optional<ObjectInfo>> S3Client::head(const std::string& key) {
  KIN_RETURN_IF_ERROR(check_key(key));
  KIN_TRY(const Answer answer,
          state_->caller.call({.method = "HEAD", .url = state_->url(key), .most_bytes = ~0ULL}));
  if (is_missing_object(answer)) return std::optional<ObjectInfo>();
  if (answer.verdict != Verdict::kDone) return s3_error(key, answer);
  const auto size = parse_number<std::uint64_t>(answer.response.header("content-length"));
  if (!size) return Error{Code::kDataLoss, key + ": S3 does not say how long it is"};
  return std::optional(
      ObjectInfo{.key = key, .size = *size, .etag = unquoted(answer.response.header("etag"))});
}

Status S3Client::put(const std::string& key, std::string bytes) {
  KIN_RETURN_IF_ERROR(check_key(key));
  const auto answer =
      state_->done(key, put_call(state_->caller, state_->bucket, key, std::move(bytes)));
  return answer ? Status(Done{}) : answer.error();
}

Result<bool> S3Client::put_if_absent(const std::string& key, std::string bytes) {
  KIN_RETURN_IF_ERROR(check_key(key));
  const std::string writer = new_writer(state_->caller);
  KIN_TRY(const Answer answer,
          state_->caller.call(put_call(state_->caller, state_->bucket, key, std::move(bytes),
                                       {{"If-None-Match", "*"}, {kWriter, writer}})));
  if (answer.verdict == Verdict::kDone) return true;
  if (answer.response.status != 412) return s3_error(key, answer);
  if (!answer.ambiguous) return false;
  // A try whose answer was lost may have created it.
  return was_written_by(state_->caller, state_->bucket, key, writer);
}

Status S3Client::upload(const std::string& key, const Source& source) {
  KIN_RETURN_IF_ERROR(check_key(key));
  return upload_in_parts(state_->caller, state_->bucket, key, source);
}

Result<StagedUpload> S3Client::stage(const std::string& key, const Source& source,
                                     std::uint64_t size) {
  KIN_RETURN_IF_ERROR(check_key(key));
  return stage_in_parts(state_->caller, state_->bucket, key, source, size);
}

Status S3Client::complete(const StagedUpload& upload) {
  return complete_upload(state_->caller, state_->bucket, upload);
}

void S3Client::abandon(const StagedUpload& upload) {
  abandon_upload(state_->caller, state_->bucket, upload);
}

Status S3Client::check_writable(const std::string& key) {
  KIN_RETURN_IF_ERROR(check_key(key));
  KIN_TRY(const StagedUpload upload, begin_upload(state_->caller, state_->bucket, key));
  abandon(upload);
  return Done{};
}

Result<ObjectPage> S3Client::list(const std::string& prefix, const std::string& next, int most) {
  // XML cannot carry every key; percent codes can.
  std::string query = fmt::format("encoding-type=url&list-type=2&max-keys={}", most);
  if (!prefix.empty()) query += "&prefix=" + uri_encoded(prefix);
  if (!next.empty()) query += "&continuation-token=" + uri_encoded(next);
  KIN_TRY(const Answer answer,
          state_->done(state_->bucket.bucket, {.method = "GET", .url = state_->url("", query)}));
  return parse_object_page(answer.response.body);
}

Status S3Client::remove(const std::string& key) {
  return remove(std::span(&key, 1));
}

Status S3Client::remove(std::span<const std::string> keys) {
  std::optional<Error> failure;
  CallBatch batch(state_->caller);
  for (const std::string& key : keys) {
    KIN_RETURN_IF_ERROR(check_key(key));
    batch.add({.method = "DELETE", .url = state_->url(key)}, [&](const Result<Answer>& answer) {
      if (!answer)
        failure = answer.error();
      else if (answer->verdict != Verdict::kDone && !is_missing_object(*answer))
        failure = s3_error(key, *answer);
    });
  }
  batch.run();
  if (failure) return *failure;
  return Done{};
}

}  // namespace kin::cloud
