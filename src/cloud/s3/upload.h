// Uploads of objects in parts.
#pragma once

#include <string>

#include "base/result.h"
#include "cloud/calls/caller.h"
#include "cloud/s3_client.h"

namespace kin::cloud {

// Reads the source part by part and sends several parts in parallel. The object appears when the
// last part has arrived; a failed upload is removed. A source of one part is put at once.
Status upload_in_parts(Caller& caller, const S3Options& bucket, const std::string& key,
                       const S3Client::Source& source);

// Begins an upload, or begins it and sends all of its parts, which are large enough for `size`
// bytes. An upload that fails is removed.
Result<StagedUpload> begin_upload(Caller& caller, const S3Options& bucket, const std::string& key);
Result<StagedUpload> stage_in_parts(Caller& caller, const S3Options& bucket, const std::string& key,
                                    const S3Client::Source& source, std::uint64_t size);
Status complete_upload(Caller& caller, const S3Options& bucket, const StagedUpload& upload);
void abandon_upload(Caller& caller, const S3Options& bucket, const StagedUpload& upload);

// Puts an object with its checksums; `more` headers are sent too.
Call put_call(const Caller& caller, const S3Options& bucket, const std::string& key,
              std::string bytes, std::vector<net::Header> more = {});

// The metadata by which a client recognises its own objects, and a new value for it.
inline constexpr const char* kWriter = "x-amz-meta-kindred-put";
std::string new_writer(Caller& caller);
// Whether the object was written by `writer`.
Result<bool> was_written_by(Caller& caller, const S3Options& bucket, const std::string& key,
                            const std::string& writer);

// The metadata that carries the SHA-256 of an object that was put in one piece.
inline constexpr const char* kContentHash = "x-amz-meta-kindred-sha256";

}  // namespace kin::cloud
