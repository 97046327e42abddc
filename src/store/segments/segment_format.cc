#include "store/segments/segment_format.h"

#include <algorithm>
#include <cstring>

#include "base/bytes.h"
#include "base/check.h"
#include "base/hash.h"

namespace kin::store {
namespace {

// Segment: magic u64; blocks; tail.
// Block: entries: size of the key and of the value (LEB128), key, value.
// Tail: magic u64, version u32, blocks u32, entries u64, filter blocks u64; per block: bytes u32,
// checksum u64, size of its first key u32, first key; the filter, 32 bytes a block; checksum u64.
constexpr std::uint64_t kMagic = 0x314745534e494bULL;      // "KINSEG1"
constexpr std::uint64_t kTailMagic = 0x4c4941544e494bULL;  // "KINTAIL"
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kBlockBytes = 16 << 10;  // a block that has reached it is ended
constexpr double kFilterBits = 10;             // a key; one in a hundred absent keys passes

Error damaged(std::string_view what) {
  return {Code::kDataLoss, std::string(what)};
}

SeenId filter_id(std::string_view key) {
  const Hash128 hash = hash128(key);
  return {hash.high, hash.low};
}

void append_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}
std::optional<std::uint64_t> take_varint(std::string_view& bytes) {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 35 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<std::uint8_t>(bytes.front());
    bytes.remove_prefix(1);
    value |= std::uint64_t{byte & 0x7fU} << shift;
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

}  // namespace

SegmentTail::SegmentTail(std::uint64_t expected_entries) : filter_(expected_entries, kFilterBits) {}

void SegmentTail::add_block(std::string_view bytes, std::string_view first) {
  blocks_.push_back({blocks_end(), static_cast<std::uint32_t>(bytes.size()), checksum(bytes),
                     std::string(first)});
}

void SegmentTail::add_key(std::string_view key) {
  filter_.add(filter_id(key));
  ++entries_;
}

std::uint64_t SegmentTail::blocks_end() const {
  return blocks_.empty() ? sizeof kMagic : blocks_.back().offset + blocks_.back().bytes;
}

bool SegmentTail::may_contain(std::string_view key) const {
  return filter_.may_contain(filter_id(key));
}

std::optional<std::size_t> SegmentTail::block_of(std::string_view key) const {
  const auto after =
      std::upper_bound(blocks_.begin(), blocks_.end(), key,
                       [](std::string_view wanted, const Block& b) { return wanted < b.first; });
  if (after == blocks_.begin()) return std::nullopt;
  return static_cast<std::size_t>(after - blocks_.begin()) - 1;
}

std::string SegmentTail::encode() const {
  std::string out;
  append_le(out, kTailMagic);
  append_le(out, kVersion);
  append_le(out, static_cast<std::uint32_t>(blocks_.size()));
  append_le(out, entries_);
  append_le(out, std::uint64_t{filter_.blocks().size()});
  for (const Block& block : blocks_) {
    append_le(out, block.bytes);
    append_le(out, block.checksum);
    append_le(out, static_cast<std::uint32_t>(block.first.size()));
    out += block.first;
  }
  out += as_bytes_view(filter_.blocks());
  append_le(out, checksum(out));
  return out;
}

Result<SegmentTail> SegmentTail::decode(std::string_view bytes) {
  const auto body = checked_body(bytes);
  if (!body) return damaged("the tail of a segment has a wrong checksum");
  ByteReader in(*body);
  if (in.read<std::uint64_t>() != kTailMagic) return damaged("this is not the tail of a segment");
  if (in.read<std::uint32_t>() != kVersion) {
    return Error{Code::kFailedPrecondition,
                 "the segment was written by another version of Kindred (use that version)"};
  }
  const auto blocks = in.read<std::uint32_t>();
  const auto entries = in.read<std::uint64_t>();
  const auto filter_blocks = in.read<std::uint64_t>();
  std::vector<Block> read;
  std::uint64_t offset = sizeof kMagic;
  bool sorted = true;
  for (std::uint32_t i = 0; i < blocks && in.ok(); ++i) {
    Block block{.offset = offset};
    block.bytes = in.read<std::uint32_t>();
    block.checksum = in.read<std::uint64_t>();
    block.first = in.read_bytes(in.read<std::uint32_t>());
    offset += block.bytes;
    sorted = sorted && (read.empty() || read.back().first < block.first);
    read.push_back(std::move(block));
  }
  if (!in.ok() || !sorted || filter_blocks == 0 ||
      in.rest().size() / sizeof(BlockFilter::Block) != filter_blocks ||
      in.rest().size() % sizeof(BlockFilter::Block) != 0)
    return damaged("the parts of a segment's tail do not add up");
  HugeArray<BlockFilter::Block> filter(filter_blocks);
  std::memcpy(filter.values().data(), in.rest().data(), in.rest().size());
  SegmentTail tail((BlockFilter(std::move(filter))));
  tail.blocks_ = std::move(read);
  tail.entries_ = entries;
  return tail;
}

SegmentWriter::SegmentWriter(Sink sink, std::uint64_t expected_entries)
    : sink_(std::move(sink)), tail_(expected_entries) {}

Status SegmentWriter::add(std::string_view key, std::string_view value) {
  if (block_.empty()) first_ = key;
  append_varint(block_, key.size());
  append_varint(block_, value.size());
  block_.append(key).append(value);
  tail_.add_key(key);
  return block_.size() < kBlockBytes ? Status(Done{}) : end_block();
}

Status SegmentWriter::end_block() {
  if (!begun_) {
    std::string magic;
    append_le(magic, kMagic);
    KIN_RETURN_IF_ERROR(sink_(magic));
    begun_ = true;
  }
  if (block_.empty()) return Done{};
  tail_.add_block(block_, first_);
  KIN_RETURN_IF_ERROR(sink_(block_));
  block_.clear();
  return Done{};
}

Result<SegmentInfo> SegmentWriter::finish() {
  KIN_RETURN_IF_ERROR(end_block());
  const std::string tail = tail_.encode();
  KIN_RETURN_IF_ERROR(sink_(tail));
  return SegmentInfo{.bytes = tail_.blocks_end() + tail.size(),
                     .tail_bytes = tail.size(),
                     .tail_checksum = checksum(tail),
                     .entries = tail_.entries()};
}

Status each_entry(std::string_view block,
                  const std::function<bool(std::string_view, std::string_view)>& visit) {
  while (!block.empty()) {
    const auto key_bytes = take_varint(block);
    const auto value_bytes = take_varint(block);
    if (!key_bytes || !value_bytes || *key_bytes + *value_bytes > block.size())
      return damaged("the entries of a segment's block do not add up");
    if (!visit(block.substr(0, *key_bytes), block.substr(*key_bytes, *value_bytes))) break;
    block.remove_prefix(*key_bytes + *value_bytes);
  }
  return Done{};
}

}  // namespace kin::store
