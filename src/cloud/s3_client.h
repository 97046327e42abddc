// Objects in one bucket of S3, or of a store that speaks its protocol.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "cloud/call_counts.h"
#include "cloud/cloud_options.h"
#include "cloud/object_store.h"

namespace kin::cloud {

struct S3Options {
  std::string bucket;
  enum class Style {
    kVirtualHost,  // https://bucket.host/key, AWS's own
    kPath,         // https://host/bucket/key, for most other stores
  };
  Style style = Style::kVirtualHost;
  std::uint64_t part_bytes = std::uint64_t{8} << 20;  // of uploads; at least 5 MiB
  int parts_at_once = 4;                              // of one upload
};

struct ObjectInfo {
  std::string key;
  std::uint64_t size = 0;
  std::string etag;  // without quotes; the MD5 of the content only for objects of one part
  friend bool operator==(const ObjectInfo&, const ObjectInfo&) = default;
};

struct ObjectPage {
  std::vector<ObjectInfo> objects;
  std::string next;  // token of the next page; empty after the last
};

// An upload whose parts the store has, but whose object does not exist yet.
struct StagedUpload {
  std::string key;
  std::string id;
  std::string writer;              // identifies the object as ours
  std::vector<std::string> etags;  // of the parts, in order
};

// Thread-safe. Borrows the clock.
//
// A request that fails for a temporary reason is sent again, as CloudOptions say. Objects uploaded
// in one piece carry their SHA-256, and get() checks it: kDataLoss if it differs.
//
// Keys have 1 to 1024 bytes and no segment "." or "..", which URLs cannot carry. Errors:
// kInvalidArgument for such keys, kNotFound for a bucket that does not exist, kFailedPrecondition
// if access is refused, kUnavailable and kResourceExhausted (throttled) if retries were used up.
class S3Client {
 public:
  S3Client(CloudOptions options, S3Options bucket, Clock& clock, std::uint64_t seed);
  ~S3Client();
  S3Client(const S3Client&) = delete;
  S3Client& operator=(const S3Client&) = delete;

  // Makes the bucket, unless one of this name exists that we may read.
  Status create_bucket();

  // The content of an object; nothing if there is none. Objects above `most_bytes` are refused.
  Result<std::optional<std::string>> get(const std::string& key,
                                         std::uint64_t most_bytes = std::uint64_t{1} << 30);
  // Parts of an object, fetched in parallel, in the order of the ranges. kNotFound if there is no
  // object, kInvalidArgument if a range does not lie within it. With an `etag`, kFailedPrecondition
  // if the object has another one by now.
  Result<std::vector<std::string>> get_ranges(const std::string& key,
                                              std::span<const ByteRange> ranges,
                                              const std::string& etag = {});
  Result<std::optional<ObjectInfo>> head(const std::string& key);

  Status put(const std::string& key, std::string bytes);
  // Creates an object (If-None-Match: *). False if one exists already, made by another writer: a
  // write of ours whose answer was lost counts as done.
  Result<bool> put_if_absent(const std::string& key, std::string bytes);
  // Writes an object from a source of any length, in parts. Nothing appears if it fails.
  // `source` fills a span and returns the number of bytes; 0 at the end.
  using Source = ObjectSource;
  Status upload(const std::string& key, const Source& source);

  // The same in two steps: the parts are sent, and the object appears when the upload is completed.
  // The parts are large enough for `size` bytes. An upload that is not completed is abandoned.
  Result<StagedUpload> stage(const std::string& key, const Source& source, std::uint64_t size);
  Status complete(const StagedUpload& upload);
  void abandon(const StagedUpload& upload);
  // An error if we may not write an object with this key: begins an upload and abandons it.
  Status check_writable(const std::string& key);

  // Objects whose key begins with `prefix`, in the order of their keys. `next` of the last page
  // continues. A page has at most `most` objects.
  Result<ObjectPage> list(const std::string& prefix, const std::string& next = {}, int most = 1000);
  // A missing object is not an error. Several are removed in parallel, in any order.
  Status remove(const std::string& key);
  Status remove(std::span<const std::string> keys);

  CallCounts counts() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kin::cloud
