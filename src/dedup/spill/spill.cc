#include "dedup/spill/spill.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "base/hash.h"

namespace kin::dedup {
namespace {

constexpr std::uint32_t kMagic = 0x4c50534b;  // "KSPL"
constexpr std::uint16_t kVersion = 1;
// Frames are collected into writes of this size.
constexpr std::size_t kWriteBytes = 4 << 20;
constexpr std::size_t kFirstBlockBytes = 4 << 10;

Error damaged(const std::filesystem::path& file, std::uint64_t offset, std::string_view why) {
  return Error{Code::kDataLoss,
               fmt::format("{} is damaged at byte {}: {} (run again without --resume)",
                           file.string(), offset, why)};
}

}  // namespace

std::string encode_spill_frame(std::uint16_t bin, std::string_view records) {
  std::string frame;
  frame.reserve(kSpillHeaderBytes + records.size());
  append_le(frame, kMagic);
  append_le(frame, kVersion);
  append_le(frame, bin);
  append_le(frame, static_cast<std::uint32_t>(records.size()));
  append_le(frame, static_cast<std::uint32_t>(checksum(frame)));
  append_le(frame, checksum(records));
  frame.append(records);
  return frame;
}

Result<SpillFrameHeader> decode_spill_header(std::string_view bytes) {
  ByteReader reader(bytes);
  const auto magic = reader.read<std::uint32_t>();
  const auto version = reader.read<std::uint16_t>();
  SpillFrameHeader header{};
  header.bin = reader.read<std::uint16_t>();
  header.bytes = reader.read<std::uint32_t>();
  const auto header_sum = reader.read<std::uint32_t>();
  header.checksum = reader.read<std::uint64_t>();
  if (!reader.ok()) return Error{Code::kDataLoss, "a frame header is cut short"};
  if (magic != kMagic) return Error{Code::kDataLoss, "this is not a spill frame"};
  if (version != kVersion) {
    return Error{Code::kDataLoss, fmt::format("frame version {} is unknown", version)};
  }
  if (header_sum != static_cast<std::uint32_t>(checksum(bytes.substr(0, 12)))) {
    return Error{Code::kDataLoss, "a frame header's checksum is wrong"};
  }
  if (header.bin >= Spill::kBins) {
    return Error{Code::kDataLoss, fmt::format("there is no bin {}", header.bin)};
  }
  return header;
}

Spill::Spill(Options options) : options_(std::move(options)), memory_limit_(options_.memory_bytes) {
  KIN_CHECK(options_.record_bytes > 0 && options_.record_bytes <= kBlockBytes,
            "a record fits a block");
}

Spill::~Spill() = default;

Status Spill::append(std::size_t bin, std::string_view records) {
  Bin& part = bins_[bin];
  {
    const std::lock_guard lock(part.mutex);
    part.bytes += records.size();
    if (part.blocks.empty() ||
        part.blocks.back().size() + records.size() > part.blocks.back().capacity()) {
      // Every block is twice as large as the one before, so bins with few records take little
      // memory.
      const std::size_t before = part.blocks.empty() ? 0 : part.blocks.back().capacity();
      const std::size_t room = std::clamp(2 * before, kFirstBlockBytes, kBlockBytes);
      part.blocks.emplace_back().reserve(std::max(records.size(), room));
      memory_used_ += part.blocks.back().capacity();
    }
    part.blocks.back().append(records);
  }
  return memory_used_ > memory_limit_ ? spill_everything() : Status(Done{});
}

Status Spill::write_frame(std::size_t bin, std::string_view records) {
  Bin& part = bins_[bin];
  const std::uint64_t offset = file_length_ + pending_.size();
  pending_ += encode_spill_frame(static_cast<std::uint16_t>(bin), records);
  {
    const std::lock_guard lock(part.mutex);
    part.frames.push_back({.offset = offset, .bytes = static_cast<std::uint32_t>(records.size())});
  }
  if (pending_.size() < kWriteBytes) return Done{};
  KIN_RETURN_IF_ERROR(file_->write_at(file_length_, pending_));
  file_length_ += pending_.size();
  pending_.clear();
  return Done{};
}

Status Spill::spill_everything() {
  const std::lock_guard file_lock(file_mutex_);
  if (memory_used_ <= memory_limit_ && memory_limit_ > 0)
    return Done{};  // another thread has just written them
  if (!file_) {
    KIN_TRY(file_, options_.disk->create(options_.file));
  }
  for (std::size_t bin = 0; bin < kBins; ++bin) {
    std::vector<std::string> blocks;
    {
      const std::lock_guard lock(bins_[bin].mutex);
      blocks.swap(bins_[bin].blocks);
    }
    for (const std::string& block : blocks) {
      KIN_RETURN_IF_ERROR(write_frame(bin, block));
      memory_used_ -= block.capacity();
    }
  }
  const std::string last = std::exchange(pending_, {});
  if (last.empty()) return Done{};
  KIN_RETURN_IF_ERROR(file_->write_at(file_length_, last));
  file_length_ += last.size();
  return Done{};
}

Status Spill::move_to_disk() {
  const std::uint64_t limit = memory_limit_.exchange(0);
  const Status spilled = spill_everything();
  memory_limit_ = limit;
  return spilled;
}

Result<std::uint64_t> Spill::checkpoint() {
  KIN_RETURN_IF_ERROR(move_to_disk());
  if (file_) KIN_RETURN_IF_ERROR(file_->sync());
  return file_length_.load();
}

Status Spill::reopen(std::uint64_t length) {
  if (length == 0) return Done{};
  KIN_TRY(auto file, options_.disk->open_to_write(options_.file));
  KIN_TRY(const std::uint64_t size, file->size());
  if (size < length) return damaged(options_.file, size, "it is shorter than its checkpoint says");
  KIN_RETURN_IF_ERROR(file->truncate(length));
  std::string header(kSpillHeaderBytes, '\0');
  for (std::uint64_t offset = 0; offset < length;) {
    if (length - offset < kSpillHeaderBytes)
      return damaged(options_.file, offset, "a frame is cut short");
    KIN_RETURN_IF_ERROR(file->read_at(offset, header.data(), header.size()));
    const auto frame = decode_spill_header(header);
    if (!frame) return damaged(options_.file, offset, frame.error().message);
    if (frame->bytes % options_.record_bytes != 0 ||
        frame->bytes > length - offset - kSpillHeaderBytes) {
      return damaged(options_.file, offset, "a frame's length does not fit");
    }
    Bin& part = bins_[frame->bin];
    part.frames.push_back({.offset = offset, .bytes = frame->bytes});
    part.bytes += frame->bytes;
    offset += kSpillHeaderBytes + frame->bytes;
  }
  file_ = std::move(file);
  file_length_ = length;
  return Done{};
}

std::uint64_t Spill::bytes(std::size_t bin) const {
  const std::lock_guard lock(bins_[bin].mutex);
  return bins_[bin].bytes;
}

std::uint64_t Spill::total_bytes() const {
  std::uint64_t total = 0;
  for (std::size_t bin = 0; bin < kBins; ++bin) total += bytes(bin);
  return total;
}

Status Spill::visit(std::size_t bin, const std::function<void(std::string_view)>& block) const {
  const Bin& part = bins_[bin];
  std::string frame;
  for (const Frame& at : part.frames) {
    frame.resize(kSpillHeaderBytes + at.bytes);
    KIN_RETURN_IF_ERROR(file_->read_at(at.offset, frame.data(), frame.size()));
    const auto header = decode_spill_header(frame);
    if (!header) return damaged(options_.file, at.offset, header.error().message);
    const std::string_view records = std::string_view(frame).substr(kSpillHeaderBytes);
    if (header->bin != bin || header->bytes != at.bytes || header->checksum != checksum(records)) {
      return damaged(options_.file, at.offset, "a frame's checksum is wrong");
    }
    block(records);
  }
  for (const std::string& records : part.blocks) block(records);
  return Done{};
}

Result<std::string> Spill::read(std::size_t bin) const {
  std::string all;
  all.reserve(bytes(bin));
  KIN_RETURN_IF_ERROR(visit(bin, [&](std::string_view block) { all.append(block); }));
  return all;
}

void Spill::release(std::size_t bin) {
  Bin& part = bins_[bin];
  const std::lock_guard lock(part.mutex);
  for (const std::string& block : part.blocks) memory_used_ -= block.capacity();
  std::vector<std::string>().swap(part.blocks);
  std::vector<Frame>().swap(part.frames);
  part.bytes = 0;
}

Spill::Writer::Writer(Spill& spill) : spill_(spill) {}

void Spill::Writer::hand_over(std::size_t bin) {
  const std::string_view block(staging_.data() + bin * kStagingBytes, used_[bin]);
  used_[bin] = 0;
  if (outcome_.ok() && !block.empty()) outcome_ = spill_.append(bin, block);
}

Status Spill::Writer::flush() {
  for (std::size_t bin = 0; bin < kBins; ++bin) hand_over(bin);
  return std::exchange(outcome_, Done{});
}

}  // namespace kin::dedup
