// A segment: sorted keys with their values, written once. Blocks of entries, then a tail with their
// positions, their checksums, and a filter of all keys.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/seen/block_filter.h"

namespace kin::store {

// The manifest's entry of a segment. `tail_checksum` covers the tail and, through it, every block,
// so all bytes of the segment can be verified.
struct SegmentInfo {
  std::string name = {};
  std::uint64_t bytes = 0;
  std::uint64_t tail_bytes = 0;
  std::uint64_t tail_checksum = 0;
  std::uint64_t entries = 0;
  friend bool operator==(const SegmentInfo&, const SegmentInfo&) = default;
};

struct SegmentEntry {
  std::string key = {};
  std::string value = {};
  friend auto operator<=>(const SegmentEntry&, const SegmentEntry&) = default;
};

// One thread only.
class SegmentTail {
 public:
  struct Block {
    std::uint64_t offset = 0;  // in the segment
    std::uint32_t bytes = 0;
    std::uint64_t checksum = 0;
    std::string first = {};  // its first key
  };

  explicit SegmentTail(std::uint64_t expected_entries);
  // kDataLoss if the bytes are damaged, kFailedPrecondition if they are of another version.
  static Result<SegmentTail> decode(std::string_view bytes);
  std::string encode() const;

  void add_block(std::string_view bytes, std::string_view first);
  void add_key(std::string_view key);

  const std::vector<Block>& blocks() const { return blocks_; }
  std::uint64_t entries() const { return entries_; }
  // The end of the blocks, where the tail begins.
  std::uint64_t blocks_end() const;
  bool may_contain(std::string_view key) const;
  // The only block that can have the key; nothing if the key lies before the first one.
  std::optional<std::size_t> block_of(std::string_view key) const;

 private:
  explicit SegmentTail(BlockFilter filter) : filter_(std::move(filter)) {}

  std::vector<Block> blocks_;
  std::uint64_t entries_ = 0;
  BlockFilter filter_;
};

// Writes a segment to `sink`, front to end. One thread only.
class SegmentWriter {
 public:
  using Sink = std::function<Status(std::string_view bytes)>;
  // `expected_entries`: an upper bound of the number of entries.
  SegmentWriter(Sink sink, std::uint64_t expected_entries);

  // Keys ascend, each once.
  Status add(std::string_view key, std::string_view value);
  // Everything but the name.
  Result<SegmentInfo> finish();

 private:
  Status end_block();

  Sink sink_;
  SegmentTail tail_;
  std::string block_;
  std::string first_;  // key of the block
  bool begun_ = false;
};

// Visits the entries of a block, in order, until `visit` returns false. kDataLoss if the bytes are
// not a block.
Status each_entry(std::string_view block,
                  const std::function<bool(std::string_view key, std::string_view value)>& visit);

}  // namespace kin::store
