#include "store/segments/segment.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/hash.h"

namespace kin::store {
namespace {

// The least size of a request: smaller ones cost the same time and money.
constexpr std::uint64_t kPieceBytes = 1 << 20;
constexpr std::size_t kMostPieces = 32;            // in memory, of one segment
constexpr std::uint64_t kWholeBytes = 4 << 20;     // a segment up to here is fetched at once
constexpr std::uint64_t kDownloadBytes = 8 << 20;  // of one request, of the whole segment
constexpr std::size_t kDownloadsAtOnce = 8;
// Read-ahead of a cursor: little for a short list, much for a long one.
constexpr std::uint64_t kFirstAheadBytes = 64 << 10;
constexpr std::uint64_t kMostAheadBytes = 8 << 20;

std::vector<cloud::ByteRange> ranges_of(std::uint64_t begin, std::uint64_t end,
                                        std::uint64_t each) {
  std::vector<cloud::ByteRange> ranges;
  for (; begin < end; begin += each) ranges.push_back({begin, std::min(each, end - begin)});
  return ranges;
}

}  // namespace

Segment::Segment(cloud::ObjectStore& bucket, SegmentCache& cache, SegmentInfo info)
    : bucket_(bucket), cache_(cache), info_(std::move(info)) {}

Error Segment::damaged() const {
  return {Code::kDataLoss, fmt::format("{}: the bucket has other bytes than were written (restore "
                                       "this object)",
                                       info_.name)};
}

// The mutex must be held.
Result<std::shared_ptr<DiskFile>> Segment::download() {
  return cache_.add(info_.name, [&](DiskFile& file) -> Status {
    const auto ranges = ranges_of(0, info_.bytes, kDownloadBytes);
    for (std::size_t at = 0; at < ranges.size(); at += kDownloadsAtOnce) {
      const std::size_t count = std::min(kDownloadsAtOnce, ranges.size() - at);
      KIN_TRY(const auto parts,
              bucket_.get_ranges(info_.name, std::span(ranges).subspan(at, count)));
      for (const std::string& part : parts) KIN_RETURN_IF_ERROR(file.append(part));
    }
    return Done{};
  });
}

std::shared_ptr<DiskFile> Segment::local(std::uint64_t about_to_read) {
  if (file_) return file_;
  if (!looked_in_cache_) {
    looked_in_cache_ = true;
    file_ = cache_.find(info_);
    if (file_) return file_;
  }
  const bool much = info_.bytes <= kWholeBytes || fetched_bytes_ + about_to_read >= info_.bytes / 4;
  if (!much || !cache_.takes(info_.bytes)) return nullptr;
  // The cache counts failures; then pieces are read instead, and report errors themselves.
  if (auto file = download()) file_ = std::move(*file);
  return file_;
}

void Segment::drop_local() {
  const std::scoped_lock lock(mutex_);
  file_.reset();
  cache_.forget(info_.name);
}

// The mutex must be held.
Result<std::string> Segment::read_tail() {
  const std::uint64_t begin = info_.bytes - info_.tail_bytes;
  if (const auto file = local(info_.tail_bytes)) {
    std::string bytes(info_.tail_bytes, '\0');
    if (file->read_at(begin, bytes.data(), bytes.size()).ok() &&
        checksum(bytes) == info_.tail_checksum)
      return bytes;
    file_.reset();
    cache_.forget(info_.name);
  }
  const auto ranges = ranges_of(begin, info_.bytes, kDownloadBytes);
  KIN_TRY(const auto parts, bucket_.get_ranges(info_.name, ranges));
  std::string bytes;
  for (const std::string& part : parts) bytes += part;
  fetched_bytes_ += bytes.size();
  if (checksum(bytes) != info_.tail_checksum) return damaged();
  return bytes;
}

bool Segment::has_tail() {
  const std::scoped_lock lock(mutex_);
  return tail_ != nullptr;
}

Result<std::shared_ptr<const SegmentTail>> Segment::tail() {
  const std::scoped_lock lock(mutex_);
  if (tail_) return tail_;
  KIN_TRY(const std::string bytes, read_tail());
  auto tail = SegmentTail::decode(bytes);
  if (!tail) return with_context(info_.name, tail.error());
  if (tail->blocks_end() + info_.tail_bytes != info_.bytes) return damaged();
  tail_ = std::make_shared<const SegmentTail>(std::move(*tail));
  return tail_;
}

Result<Segment::Blocks> Segment::blocks_in_file(const DiskFile& file, const SegmentTail& tail,
                                                std::span<const std::size_t> wanted) const {
  Blocks blocks;
  for (const std::size_t number : wanted) {
    const SegmentTail::Block& block = tail.blocks()[number];
    std::string bytes(block.bytes, '\0');
    KIN_RETURN_IF_ERROR(file.read_at(block.offset, bytes.data(), bytes.size()));
    if (checksum(bytes) != block.checksum) return damaged();
    blocks.push_back(std::move(bytes));
  }
  return blocks;
}

// The mutex must be held.
Result<Segment::Pieces> Segment::fetch_pieces(const SegmentTail& tail,
                                              std::span<const std::size_t> wanted) {
  Pieces needed;
  for (const std::size_t number : wanted) {
    const SegmentTail::Block& block = tail.blocks()[number];
    for (std::uint64_t piece = block.offset / kPieceBytes;
         piece * kPieceBytes < block.offset + block.bytes; ++piece)
      needed[piece];
  }
  std::vector<cloud::ByteRange> ranges;
  for (auto& [number, piece] : needed) {
    if (const auto kept = pieces_.find(number); kept != pieces_.end()) {
      piece = kept->second;
      continue;
    }
    const std::uint64_t begin = number * kPieceBytes;
    ranges.push_back({begin, std::min(kPieceBytes, info_.bytes - begin)});
  }
  if (ranges.empty()) return needed;
  KIN_TRY(auto parts, bucket_.get_ranges(info_.name, ranges));
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    fetched_bytes_ += parts[i].size();
    needed[ranges[i].offset / kPieceBytes] =
        std::make_shared<const std::string>(std::move(parts[i]));
  }
  if (needed.size() <= kMostPieces) {
    if (pieces_.size() + needed.size() > kMostPieces) pieces_.clear();
    pieces_.insert(needed.begin(), needed.end());
  }
  return needed;
}

Result<Segment::Blocks> Segment::blocks_in_pieces(const SegmentTail& tail,
                                                  std::span<const std::size_t> wanted) {
  const std::scoped_lock lock(mutex_);
  KIN_TRY(const Pieces pieces, fetch_pieces(tail, wanted));
  Blocks blocks;
  for (const std::size_t number : wanted) {
    const SegmentTail::Block& block = tail.blocks()[number];
    std::string bytes;
    std::uint64_t at = block.offset;
    while (bytes.size() < block.bytes) {
      const std::string& piece = *pieces.at(at / kPieceBytes);
      bytes += std::string_view(piece).substr(at % kPieceBytes, block.bytes - bytes.size());
      at = block.offset + bytes.size();
    }
    if (checksum(bytes) != block.checksum) {
      pieces_.clear();
      return damaged();
    }
    blocks.push_back(std::move(bytes));
  }
  return blocks;
}

Result<std::vector<std::string>> Segment::blocks(const SegmentTail& tail,
                                                 std::span<const std::size_t> wanted) {
  std::uint64_t bytes = 0;
  for (const std::size_t number : wanted) bytes += tail.blocks()[number].bytes;
  std::shared_ptr<DiskFile> file;
  {
    const std::scoped_lock lock(mutex_);
    file = local(bytes);
  }
  if (file) {
    auto read = blocks_in_file(*file, tail, wanted);
    if (read.ok()) return read;
    drop_local();
  }
  return blocks_in_pieces(tail, wanted);
}

Status Segment::get(std::span<const std::string> keys, const Found& found) {
  KIN_TRY(const auto tail, this->tail());
  std::vector<std::pair<std::size_t, std::size_t>> places;  // block, key
  std::vector<std::size_t> wanted;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (!tail->may_contain(keys[i])) continue;
    const auto block = tail->block_of(keys[i]);
    if (!block) continue;
    if (wanted.empty() || wanted.back() != *block) wanted.push_back(*block);
    places.emplace_back(wanted.size() - 1, i);
  }
  if (wanted.empty()) return Done{};
  KIN_TRY(const auto read, blocks(*tail, wanted));
  for (std::size_t at = 0; at < places.size();) {
    const std::size_t block = places[at].first;
    KIN_RETURN_IF_ERROR(each_entry(read[block], [&](std::string_view key, std::string_view value) {
      while (at < places.size() && places[at].first == block && keys[places[at].second] < key) ++at;
      if (at == places.size() || places[at].first != block) return false;
      if (keys[places[at].second] == key) found(places[at].second, value);
      return true;
    }));
    while (at < places.size() && places[at].first == block) ++at;
  }
  return Done{};
}

Status SegmentCursor::seek(std::string_view key) {
  KIN_TRY(tail_, segment_->tail());
  next_block_ = tail_->block_of(key).value_or(0);
  KIN_RETURN_IF_ERROR(fill());
  while (valid() && this->key() < key) KIN_RETURN_IF_ERROR(next());
  return Done{};
}

Status SegmentCursor::next() {
  return ++at_ < entries_.size() ? Status(Done{}) : fill();
}

Status SegmentCursor::fill() {
  entries_.clear();
  at_ = 0;
  ahead_bytes_ = std::clamp(2 * ahead_bytes_, kFirstAheadBytes, kMostAheadBytes);
  std::vector<std::size_t> wanted;
  for (std::uint64_t bytes = 0; next_block_ < tail_->blocks().size() && bytes < ahead_bytes_;) {
    bytes += tail_->blocks()[next_block_].bytes;
    wanted.push_back(next_block_++);
  }
  if (wanted.empty()) return Done{};
  KIN_TRY(const auto read, segment_->blocks(*tail_, wanted));
  for (const std::string& block : read) {
    KIN_RETURN_IF_ERROR(each_entry(block, [&](std::string_view key, std::string_view value) {
      entries_.push_back({std::string(key), std::string(value)});
      return true;
    }));
  }
  return Done{};
}

}  // namespace kin::store
