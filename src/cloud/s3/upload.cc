#include "cloud/s3/upload.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/ascii.h"
#include "cloud/s3/protocol.h"
#include "cloud/s3/xml.h"
#include "cloud/signing/digest.h"
#include "cloud/signing/sigv4.h"

namespace kin::cloud {
namespace {

constexpr std::uint64_t kSmallestPart = std::uint64_t{5} << 20;
constexpr std::size_t kMostParts = 10'000;

// The next `size` bytes of the source; fewer at its end.
Result<std::string> read_part(const S3Client::Source& source, std::uint64_t size) {
  std::string part(size, '\0');
  std::size_t filled = 0;
  while (filled < part.size()) {
    KIN_TRY(const std::size_t count, source(std::span(part).subspan(filled)));
    if (count == 0) break;
    filled += count;
  }
  part.resize(filled);
  return part;
}

// One thread only.
class Upload {
 public:
  Upload(Caller& caller, const S3Options& bucket, std::string key)
      : caller_(caller),
        bucket_(bucket),
        key_(std::move(key)),
        writer_(new_writer(caller)),
        batch_(caller) {}

  Status begin() {
    KIN_TRY(const Answer answer,
            caller_.call({.url = url("uploads"), .headers = {{kWriter, writer_}}, .body = ""}));
    if (answer.verdict != Verdict::kDone) return s3_error(key_, answer);
    KIN_TRY(const XmlElement root, parse_xml(answer.response.body));
    id_ = root.text_of("UploadId");
    if (id_.empty()) return Error{Code::kDataLoss, key_ + ": S3 began an upload without an id"};
    return Done{};
  }

  // Sends `first` and what the source gives after it.
  Status send(std::string first, const S3Client::Source& source) {
    source_ = &source;
    send_part(std::move(first));
    for (int i = 1; i < bucket_.parts_at_once; ++i) send_next();
    batch_.run();
    return failure_ ? Status(*failure_) : Status(Done{});
  }

  Status complete() {
    KIN_TRY(const Answer answer, caller_.call({.url = url("uploadId=" + uri_encoded(id_)),
                                               .body = complete_upload_body(etags_),
                                               .judge = &judge_s3_body}));
    if (answer.verdict == Verdict::kDone) return Done{};
    // An earlier try may have completed it. Stores differ in what they say of the next.
    if (answer.ambiguous) {
      KIN_TRY(const bool ours, was_written_by(caller_, bucket_, key_, writer_));
      if (ours) return Done{};
    }
    return s3_error(key_, answer);
  }

  // What cannot be removed is removed by the bucket's rules for incomplete uploads; the caller has
  // a more important error to report.
  void abandon() {
    if (id_.empty()) return;
    const auto ignored =
        caller_.call({.method = "DELETE", .url = url("uploadId=" + uri_encoded(id_))});
    (void)ignored;
  }

 private:
  std::string url(const std::string& query) const {
    return s3_url(caller_.options(), bucket_, key_, query);
  }

  void send_next() {
    if (failure_ || ended_) return;
    auto part = read_part(*source_, bucket_.part_bytes);
    if (!part) {
      failure_ = part.error();
      return;
    }
    ended_ = part->empty();
    if (!ended_) send_part(std::move(*part));
  }

  void send_part(std::string part) {
    const std::size_t number = etags_.size();
    if (number == kMostParts) {
      failure_ = Error{Code::kInvalidArgument,
                       fmt::format("{}: longer than {} parts: use larger parts", key_, kMostParts)};
      return;
    }
    etags_.emplace_back();
    Call call{.method = "PUT",
              .url = url(fmt::format("partNumber={}&uploadId={}", number + 1, uri_encoded(id_))),
              .headers = {{"x-amz-checksum-sha256", to_base64(sha256(part))}},
              .body = std::move(part)};
    batch_.add(std::move(call), [this, number](const Result<Answer>& answer) {
      if (!answer)
        failure_ = answer.error();
      else if (answer->verdict != Verdict::kDone)
        failure_ = s3_error(key_, *answer);
      else
        etags_[number] = unquoted(answer->response.header("etag"));
      send_next();
    });
  }

  Caller& caller_;
  const S3Options& bucket_;
  const std::string key_;
  const std::string writer_;
  CallBatch batch_;
  const S3Client::Source* source_ = nullptr;
  std::string id_;
  std::vector<std::string> etags_;  // of the parts, in order
  bool ended_ = false;
  std::optional<Error> failure_;
};

}  // namespace

Call put_call(const Caller& caller, const S3Options& bucket, const std::string& key,
              std::string bytes, std::vector<net::Header> more) {
  const std::string digest = sha256(bytes);
  more.push_back({kContentHash, to_hex(digest)});
  more.push_back({"x-amz-checksum-sha256", to_base64(digest)});
  return {.method = "PUT",
          .url = s3_url(caller.options(), bucket, key, ""),
          .headers = std::move(more),
          .body = std::move(bytes)};
}

std::string new_writer(Caller& caller) {
  return fmt::format("{:016x}{:016x}", caller.random_number(), caller.random_number());
}

Result<bool> was_written_by(Caller& caller, const S3Options& bucket, const std::string& key,
                            const std::string& writer) {
  KIN_TRY(const Answer there, caller.call({.method = "HEAD",
                                           .url = s3_url(caller.options(), bucket, key, ""),
                                           .most_bytes = ~0ULL}));
  if (there.response.status == 404) return false;
  if (there.verdict != Verdict::kDone) return s3_error(key, there);
  return there.response.header(kWriter) == writer;
}

Status upload_in_parts(Caller& caller, const S3Options& bucket, const std::string& key,
                       const S3Client::Source& source) {
  if (bucket.part_bytes < kSmallestPart)
    return Error{Code::kInvalidArgument, "parts of an upload have at least 5 MiB"};
  KIN_TRY(std::string first, read_part(source, bucket.part_bytes));
  if (first.size() < bucket.part_bytes) {
    KIN_TRY(const Answer answer, caller.call(put_call(caller, bucket, key, std::move(first))));
    return answer.verdict == Verdict::kDone ? Status(Done{}) : s3_error(key, answer);
  }
  Upload upload(caller, bucket, key);
  KIN_RETURN_IF_ERROR(upload.begin());
  Status status = upload.send(std::move(first), source);
  if (status.ok()) status = upload.complete();
  if (!status.ok()) upload.abandon();
  return status;
}

}  // namespace kin::cloud
