#include "data/block_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

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

Result<bool> BlockReader::next(Block& block) {
  const std::scoped_lock lock(mutex_);
  block.number = blocks_;
  if (failure_) return *failure_;
  auto any = next_of_files(block);
  if (!any) failure_ = any.error();
  return any;
}

Result<bool> BlockReader::next_of_files(Block& block) {
  while (position_.file < inputs_.size()) {
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
  // Room for one long record is not kept for all that follow.
  if (block.bytes.size() > 8 * options_.block_bytes + kJsonPadding) block.bytes = {};
  block.file = position_.file;
  block.records.clear();
  block.size = left_over_.size();
  block.bytes.resize(std::max(block.bytes.size(), block.size + kJsonPadding));
  std::copy(left_over_.begin(), left_over_.end(), block.bytes.begin());
  left_over_ = {};
  for (;;) {
    block.first_line = position_.line + 1;
    block.first_row = position_.row;
    if (!at_end_of_file_) KIN_RETURN_IF_ERROR(read_more(block));
    if (block.size == 0) return false;
    KIN_RETURN_IF_ERROR(split(block));
    if (!block.records.empty()) break;
    if (at_end_of_file_) return false;
    // Nothing but blank lines, or the beginning of a record longer than the block.
    block.size = left_over_.size();
    std::copy(left_over_.begin(), left_over_.end(), block.bytes.begin());
  }
  ++blocks_;
  block.input_bytes = source_->consumed() - consumed_before;
  return true;
}

Status BlockReader::read_more(Block& block) {
  const std::size_t wanted = std::max(options_.block_bytes, block.size * 2);
  if (block.size >= kLargestBlock) {
    return Error{Code::kInvalidArgument,
                 fmt::format("{}:{}: the record is longer than 4 GB",
                             inputs_[position_.file].shown_as, position_.line + 1)};
  }
  const std::size_t capacity = std::min(wanted, kLargestBlock);
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

// Finds the records in the block, moves the position behind them, and keeps what is left over.
Status BlockReader::split(Block& block) {
  const Format format = inputs_[block.file].type.format;
  const std::string_view bytes(block.bytes.data(), block.size);
  const Behind behind = at_end_of_file_ ? Behind::kEndOfFile : Behind::kMore;
  std::size_t begin = 0;
  if (position_.offset == 0 && bytes.starts_with(kByteOrderMark)) begin = kByteOrderMark.size();
  while (begin < bytes.size()) {
    const auto record = next_record(format, bytes, begin, behind);
    if (!record) break;
    add(block, begin, *record);
    begin = record->end;
  }
  left_over_.assign(bytes.substr(begin));
  block.size = begin;
  position_.offset += begin;
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
  block.records.push_back(
      {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(record.end), line});
  ++position_.row;
}

}  // namespace kin::data
