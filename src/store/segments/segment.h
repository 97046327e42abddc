// Reads one segment of a bucket, through copies on this machine.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "cloud/object_store.h"
#include "store/segments/segment_cache.h"
#include "store/segments/segment_format.h"

namespace kin::store {

// Thread-safe. Borrows bucket and cache. Nothing is read in advance: first the tail, then
// pieces of a megabyte; the whole segment once a quarter of it was read, if the cache
// accepts it. All bytes are compared with the checksums of the manifest; wrong bytes of the
// cache are fetched from the bucket again. kNotFound if the bucket no longer has the
// segment.
class Segment {
 public:
  Segment(cloud::ObjectStore& bucket, SegmentCache& cache, SegmentInfo info);

  const SegmentInfo& info() const { return info_; }

  // Calls `found` for each of the sorted `keys` that the segment has, with the index of the key.
  using Found = std::function<void(std::size_t key, std::string_view value)>;
  Status get(std::span<const std::string> keys, const Found& found);

  Result<std::shared_ptr<const SegmentTail>> tail();
  // True if tail() needs no request.
  bool has_tail();
  // The blocks with the ascending numbers `wanted`, in this order.
  Result<std::vector<std::string>> blocks(const SegmentTail& tail,
                                          std::span<const std::size_t> wanted);

 private:
  using Blocks = std::vector<std::string>;
  using Pieces = std::map<std::uint64_t, std::shared_ptr<const std::string>>;

  // A copy to read from; nullptr: read pieces.
  std::shared_ptr<DiskFile> local(std::uint64_t about_to_read);
  Result<std::shared_ptr<DiskFile>> download();
  void drop_local();
  Result<std::string> read_tail();
  Result<Pieces> fetch_pieces(const SegmentTail& tail, std::span<const std::size_t> wanted);
  Result<Blocks> blocks_in_file(const DiskFile& file, const SegmentTail& tail,
                                std::span<const std::size_t> wanted) const;
  Result<Blocks> blocks_in_pieces(const SegmentTail& tail, std::span<const std::size_t> wanted);
  Error damaged() const;

  cloud::ObjectStore& bucket_;
  SegmentCache& cache_;
  const SegmentInfo info_;
  std::mutex mutex_;  // guards the following; held while the segment is fetched
  std::shared_ptr<const SegmentTail> tail_;
  std::shared_ptr<DiskFile> file_;
  bool looked_in_cache_ = false;
  Pieces pieces_;  // by number; a bounded amount
  std::uint64_t fetched_bytes_ = 0;
};

// A cursor over the entries of a segment in the order of their keys. One thread only.
class SegmentCursor {
 public:
  explicit SegmentCursor(std::shared_ptr<Segment> segment) : segment_(std::move(segment)) {}

  // Moves to the first key at or after `key`.
  Status seek(std::string_view key);
  bool valid() const { return at_ < entries_.size(); }
  const std::string& key() const { return entries_[at_].key; }
  std::string& value() { return entries_[at_].value; }
  Status next();

 private:
  // Reads blocks from `next_block_` on.
  Status fill();

  std::shared_ptr<Segment> segment_;
  std::shared_ptr<const SegmentTail> tail_;
  std::size_t next_block_ = 0;
  std::uint64_t ahead_bytes_ = 0;  // size of the next read of fill(); it grows
  std::vector<SegmentEntry> entries_;
  std::size_t at_ = 0;
};

}  // namespace kin::store
