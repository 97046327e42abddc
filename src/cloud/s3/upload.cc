#include "cloud/s3/upload.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/ascii.h"
#include "base/base64.h"
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

std::string upload_url(const Caller& caller, const S3Options& bucket, const StagedUpload& upload,
                       const std::string& more = "") {
  return s3_url(caller.options(), bucket, upload.key, more + "uploadId=" + uri_encoded(upload.id));
}

// Sends parts of an upload. One thread only.
class PartSender {
 public:
  PartSender(Caller& caller, const S3Options& bucket, StagedUpload& upload,
             std::uint64_t part_bytes)
      : caller_(caller),
        bucket_(bucket),
        upload_(upload),
        part_bytes_(part_bytes),
        batch_(caller) {}

  // Sends `first` and the rest of the source.
  Status send(std::string first, const S3Client::Source& source) {
    source_ = &source;
    send_part(std::move(first));
    for (int i = 1; i < bucket_.parts_at_once; ++i) send_next();
    batch_.run();
    return failure_ ? Status(*failure_) : Status(Done{});
  }

 private:
  void send_next() {
    if (failure_ || ended_) return;
    auto part = read_part(*source_, part_bytes_);
    if (!part) {
      failure_ = part.error();
      return;
    }
    ended_ = part->empty();
    if (!ended_) send_part(std::move(*part));
  }

  void send_part(std::string part) {
    const std::size_t number = upload_.etags.size();
    if (number == kMostParts) {
      failure_ =
          Error{Code::kInvalidArgument,
                fmt::format("{}: longer than {} parts: use larger parts", upload_.key, kMostParts)};
      return;
    }
    upload_.etags.emplace_back();
    Call call{
        .method = "PUT",
        .url = upload_url(caller_, bucket_, upload_, fmt::format("partNumber={}&", number + 1)),
        .headers = {{"x-amz-checksum-sha256", to_base64(sha256(part))}},
        .body = std::move(part)};
    batch_.add(std::move(call), [this, number](const Result<Answer>& answer) {
      if (!answer)
        failure_ = answer.error();
      else if (answer->verdict != Verdict::kDone)
        failure_ = s3_error(upload_.key, *answer);
      else
        upload_.etags[number] = unquoted(answer->response.header("etag"));
      send_next();
    });
  }

  Caller& caller_;
  const S3Options& bucket_;
  StagedUpload& upload_;
  const std::uint64_t part_bytes_;
  CallBatch batch_;
  const S3Client::Source* source_ = nullptr;
  bool ended_ = false;
  std::optional<Error> failure_;
};

// Sends `first` and the rest of the source, in parts of the same size.
Result<StagedUpload> send_all(Caller& caller, const S3Options& bucket, const std::string& key,
                              std::string first, const S3Client::Source& source,
                              std::uint64_t part_bytes) {
  KIN_TRY(StagedUpload upload, begin_upload(caller, bucket, key));
  if (const Status sent =
          PartSender(caller, bucket, upload, part_bytes).send(std::move(first), source);
      !sent) {
    abandon_upload(caller, bucket, upload);
    return sent.error();
  }
  return upload;
}

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

Result<StagedUpload> begin_upload(Caller& caller, const S3Options& bucket, const std::string& key) {
  StagedUpload upload{.key = key, .id = {}, .writer = new_writer(caller), .etags = {}};
  KIN_TRY(const Answer answer, caller.call({.url = s3_url(caller.options(), bucket, key, "uploads"),
                                            .headers = {{kWriter, upload.writer}},
                                            .body = ""}));
  if (answer.verdict != Verdict::kDone) return s3_error(key, answer);
  KIN_TRY(const XmlElement root, parse_xml(answer.response.body));
  upload.id = root.text_of("UploadId");
  if (upload.id.empty()) return Error{Code::kDataLoss, key + ": S3 began an upload without an id"};
  return upload;
}

Status complete_upload(Caller& caller, const S3Options& bucket, const StagedUpload& upload) {
  KIN_TRY(const Answer answer, caller.call({.url = upload_url(caller, bucket, upload),
                                            .body = complete_upload_body(upload.etags),
                                            .judge = &judge_s3_body}));
  if (answer.verdict == Verdict::kDone) return Done{};
  // An earlier try may have completed it. Stores answer the next try differently.
  if (answer.ambiguous) {
    KIN_TRY(const bool ours, was_written_by(caller, bucket, upload.key, upload.writer));
    if (ours) return Done{};
  }
  return s3_error(upload.key, answer);
}

// If it cannot be removed, the bucket's rules for incomplete uploads remove it; the caller has a
// more important error to report.
void abandon_upload(Caller& caller, const S3Options& bucket, const StagedUpload& upload) {
  const auto ignored = caller.call({.method = "DELETE", .url = upload_url(caller, bucket, upload)});
  (void)ignored;
}

Result<StagedUpload> stage_in_parts(Caller& caller, const S3Options& bucket, const std::string& key,
                                    const S3Client::Source& source, std::uint64_t size) {
  constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20;
  // Whole mebibytes, and some parts fewer than there may be.
  const std::uint64_t least = (size / (kMostParts - 100) / kMebibyte + 1) * kMebibyte;
  const std::uint64_t part_bytes = std::max({bucket.part_bytes, kSmallestPart, least});
  KIN_TRY(std::string first, read_part(source, part_bytes));
  return send_all(caller, bucket, key, std::move(first), source, part_bytes);
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
  KIN_TRY(const StagedUpload upload,
          send_all(caller, bucket, key, std::move(first), source, bucket.part_bytes));
  const Status status = complete_upload(caller, bucket, upload);
  if (!status.ok()) abandon_upload(caller, bucket, upload);
  return status;
}

}  // namespace kin::cloud
