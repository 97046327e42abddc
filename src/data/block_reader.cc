#include "data/block_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "base/ids.h"
#include "data/text/json_record.h"
#include "data/text/record_splitter.h"

namespace kin::data {
namespace {

constexpr std::size_t kLargestBlock = std::numeric_limits<std::uint32_t>::max() - 2 * kJsonPadding;

}  // namespace

BlockReader::BlockReader(std::span<const Input> inputs, BlockReaderOptions options)
    : inputs_(inputs), options_(std::move(options)), position_(options_.start) {}

Position BlockReader::position() const {
  const std::scoped_lock lock(mutex_);
  return position_;
}

bool BlockReader::finished() const {
  const std::scoped_lock lock(mutex_);
  return position_.file >= inputs_.size();
}

std::vector<std::uint64_t> BlockReader::first_rows() const {
  const std::scoped_lock lock(mutex_);
  return first_rows_;
}

std::uint64_t BlockReader::longest_record() const {
  const std::scoped_lock lock(mutex_);
  return longest_record_;
}

Result<bool> BlockReader::next(Block& block) {
  release(block);
  const std::scoped_lock lock(mutex_);
  block.number = blocks_;
  if (failure_) return *failure_;
  auto any = next_of_files(block);
  if (!any) failure_ = any.error();
  if (any && *any) charge(block);
  return any;
}

void BlockReader::release(Block& block) {
  if (block.charged == 0) return;
  block.bytes = ByteBuffer();  // freed before another block takes its place
  const std::scoped_lock lock(held_mutex_);
  held_ -= std::exchange(block.charged, 0);
  released_.notify_all();
}

// Waits with the lock of next() held: no thread may read on while there is no room for this block.
void BlockReader::wait_for_room(std::uint64_t bytes) {
  if (options_.large_bytes == 0 || bytes <= 2 * options_.block_bytes) return;
  std::unique_lock lock(held_mutex_);
  // A block that is larger than the limit is read when no other is held.
  released_.wait(lock, [&] { return held_ == 0 || held_ + bytes <= options_.large_bytes; });
}

void BlockReader::charge(Block& block) {
  if (options_.large_bytes == 0 || block.size <= 2 * options_.block_bytes) return;
  wait_for_room(block.size);
  const std::scoped_lock lock(held_mutex_);
  block.charged = block.size;
  held_ += block.charged;
}

Result<bool> BlockReader::next_of_files(Block& block) {
  while (position_.file < inputs_.size()) {
    // A compressed file cannot be opened in the middle, so a scan can only pause before it.
    const bool may_pause =
        source_ == nullptr || inputs_[position_.file].type.compression == Compression::kNone;
    if (may_pause && options_.pause && options_.pause()) return false;
    if (source_ == nullptr) KIN_RETURN_IF_ERROR(open_file());
    KIN_TRY(const bool any, fill(block));
    if (any) return true;
    source_.reset();
    position_ = {position_.file + 1, 0, 0, position_.row};
  }
  return false;
}

Status BlockReader::open_file() {
  const Input& input = inputs_[position_.file];
  KIN_TRY(source_, ByteSource::open(input, position_.offset));
  at_end_of_file_ = false;
  left_over_.clear();
  skip_header_ = position_.offset == 0 && input.type.format != Format::kJsonl;
  if (first_rows_.size() <= position_.file) first_rows_.resize(position_.file + 1, 0);
  if (position_.offset == 0) first_rows_[position_.file] = position_.row;
  return Done{};
}

// False if the file has no more records.
Result<bool> BlockReader::fill(Block& block) {
  const std::uint64_t consumed_before = source_->consumed();
  // Memory for one long record is not kept for the records after it.
  if (block.bytes.size() > 2 * options_.block_bytes + kJsonPadding) block.bytes = ByteBuffer();
  block.file = position_.file;
  block.records.clear();
  block.size = left_over_.size();
  block.bytes.resize(std::max(block.bytes.size(), block.size + kJsonPadding));
  std::copy(left_over_.begin(), left_over_.end(), block.bytes.data());
  left_over_ = {};
  // The left-over bytes may hold whole records; a block need not be larger than usual.
  bool read = block.size < options_.block_bytes;
  for (std::size_t searched = 0;; read = true) {
    block.first_line = position_.line + 1;
    block.first_row = position_.row;
    block.offset = position_.offset;
    if (!at_end_of_file_ && read) KIN_RETURN_IF_ERROR(read_more(block));
    if (block.size == 0) return false;
    if (is_line_part(block, searched)) {
      searched = block.size;
      continue;
    }
    KIN_RETURN_IF_ERROR(split(block));
    if (!block.records.empty()) break;
    if (at_end_of_file_) return false;
    searched = block.size;
  }
  ++blocks_;
  block.input_bytes = source_->consumed() - consumed_before;
  return true;
}

// Whether a line of JSONL continues after the block. The first `searched` bytes were searched
// before, so that long lines are not searched again from their beginning.
bool BlockReader::is_line_part(const Block& block, std::size_t searched) const {
  if (at_end_of_file_ || searched == 0 || inputs_[block.file].type.format != Format::kJsonl)
    return false;
  return std::memchr(block.bytes.data() + searched, '\n', block.size - searched) == nullptr;
}

Status BlockReader::read_more(Block& block) {
  // A record that is longer than the block: read on in steps that grow with it.
  const std::size_t wanted = block.size < options_.block_bytes
                                 ? options_.block_bytes
                                 : block.size + std::max(options_.block_bytes, block.size / 8);
  KIN_RETURN_IF_ERROR(check_length(block));
  const std::size_t capacity = std::min(wanted, kLargestBlock);
  wait_for_room(capacity);
  if (block.bytes.size() < capacity + kJsonPadding) block.bytes.resize(capacity + kJsonPadding);
  while (block.size < capacity) {
    KIN_TRY(const std::size_t got,
            source_->read(block.bytes.data() + block.size, capacity - block.size));
    at_end_of_file_ = got == 0;
    if (at_end_of_file_) break;
    block.size += got;
  }
  return Done{};
}

// The block holds only the beginning of one record.
Status BlockReader::check_length(const Block& block) {
  if (block.size >= kLargestBlock) {
    return Error{Code::kInvalidArgument,
                 fmt::format("{}:{}: the record is longer than 4 GB",
                             inputs_[position_.file].shown_as, position_.line + 1)};
  }
  const bool too_long_here = options_.longest_record > 0 && block.size > options_.longest_record &&
                             block.size > options_.block_bytes;
  if (!too_long_here) return Done{};
  // Measures the record without keeping it. In CSV this counts its first line only.
  std::uint64_t length = block.size;
  std::string piece(256 << 10, '\0');
  for (;;) {
    KIN_TRY(const std::size_t got, source_->read(piece.data(), piece.size()));
    const std::size_t end = std::string_view(piece.data(), got).find('\n');
    length += std::min(end, got);
    if (got == 0 || end != std::string_view::npos) return too_long(length);
  }
}

Error BlockReader::too_long(std::uint64_t length) {
  longest_record_ = std::max(longest_record_, length);
  return Error{Code::kResourceExhausted,
               fmt::format("{}:{}: the record has {} bytes, too many for the memory",
                           inputs_[position_.file].shown_as, position_.line + 1, length)};
}

// Finds the records in the block, advances the position past them, and keeps the left-over bytes.
Status BlockReader::split(Block& block) {
  const Format format = inputs_[block.file].type.format;
  const std::string_view bytes(block.bytes.data(), block.size);
  const Behind behind = at_end_of_file_ ? Behind::kEndOfFile : Behind::kMore;
  std::size_t begin = 0;
  if (position_.offset == 0 && bytes.starts_with(kByteOrderMark)) begin = kByteOrderMark.size();
  while (begin < bytes.size()) {
    const auto record = next_record(format, bytes, begin, behind);
    if (!record) break;
    if (options_.longest_record > 0 && record->end - begin > options_.longest_record &&
        record->end - begin > options_.block_bytes) {
      return too_long(record->end - begin);
    }
    add(block, begin, *record);
    begin = record->end;
  }
  position_.offset += begin;
  if (block.records.empty()) {
    // Only blank lines, or the beginning of a record longer than the block, which is kept.
    block.size -= begin;
    if (begin > 0) std::memmove(block.bytes.data(), block.bytes.data() + begin, block.size);
  } else {
    left_over_.assign(bytes.substr(begin));
    block.size = begin;
  }
  if (position_.row >= row_number(kNoRecord)) {
    return Error{Code::kInvalidArgument,
                 "the inputs have more than 4,294,967,294 records (split them)"};
  }
  return Done{};
}

void BlockReader::add(Block& block, std::size_t begin, const RecordSpan& record) {
  const auto line = static_cast<std::uint32_t>(position_.line + 1 - block.first_line);
  position_.line += record.lines;
  if (record.blank) return;
  if (skip_header_) {
    skip_header_ = false;
    return;
  }
  longest_record_ = std::max<std::uint64_t>(longest_record_, record.end - begin);
  // Between the elements of an array there are spaces.
  if (inputs_[position_.file].array)
    begin = std::string_view(block.bytes.data(), record.end).find_first_not_of(' ', begin);
  block.records.push_back(
      {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(record.end), line});
  ++position_.row;
}

}  // namespace kin::data
