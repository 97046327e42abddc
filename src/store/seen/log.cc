#include "store/seen/log.h"

#include <fmt/format.h>

#include <optional>

#include "base/bytes.h"

namespace kin::store {
namespace fs = std::filesystem;
namespace {

// Header: magic u64, version u32, kind u32, number u64, sequence u64, checksum u64.
// Frames: magic u32, count u32, sequence u64, durable u64, checksum u64, then `count` ids (high
// u64, for strings also low u64). `durable` is how much of the log was on the device when the frame
// was made. A frame of kSealed ids ends the log.
constexpr std::uint64_t kMagic = 0x31474f4c4e45534bULL;  // "KSENLOG1"
constexpr std::uint32_t kVersion = 1;
constexpr std::uint32_t kFrameMagic = 0x314d524bU;  // "KRM1"
constexpr std::size_t kFrameHeaderBytes = 32;
constexpr std::size_t kFrameChecksum = 24;
constexpr std::uint32_t kMostIds = 8192;
constexpr std::uint32_t kSealed = 0xffffffffU;

std::size_t id_bytes(IdKind kind) {
  return kind == IdKind::kText ? 16 : 8;
}

std::string header(IdKind kind, std::uint64_t number, std::uint64_t sequence) {
  std::string bytes;
  append_le(bytes, kMagic);
  append_le(bytes, kVersion);
  append_le(bytes, static_cast<std::uint32_t>(kind));
  append_le(bytes, number);
  append_le(bytes, sequence);
  // Over everything before it.
  append_le(bytes, checksum(bytes));
  return bytes;
}

// The checksum of a whole frame at `offset` of log `number`; its own field counts as zero.
std::uint64_t frame_checksum(std::string_view frame, std::uint64_t number, std::uint64_t offset) {
  const std::uint64_t head =
      // Log and offset are part of the checksum: frames of an older file with the same name are
      // refused.
      hash64(frame.substr(0, kFrameChecksum), mix64(number) ^ mix64(offset + 1));
  return hash64(frame.substr(kFrameHeaderBytes), head);
}

struct Frame {
  std::uint32_t count = 0;
  std::uint64_t sequence = 0;
  std::uint64_t durable = 0;
  std::string_view ids;
  std::size_t bytes = 0;
};

// The frame at `offset`, if it is valid.
std::optional<Frame> frame_at(std::string_view log, std::uint64_t offset, IdKind kind,
                              std::uint64_t number) {
  ByteReader reader(log.substr(offset));
  const auto magic = reader.read<std::uint32_t>();
  Frame frame;
  frame.count = reader.read<std::uint32_t>();
  frame.sequence = reader.read<std::uint64_t>();
  frame.durable = reader.read<std::uint64_t>();
  const auto sum = reader.read<std::uint64_t>();
  if (!reader.ok() || magic != kFrameMagic) return std::nullopt;
  // A damaged count is refused before it is used as a length.
  if (frame.count != kSealed) {
    if (frame.count > kMostIds) return std::nullopt;
    frame.ids = reader.read_bytes(frame.count * id_bytes(kind));
    if (!reader.ok()) return std::nullopt;
  }
  frame.bytes = kFrameHeaderBytes + frame.ids.size();
  if (sum != frame_checksum(log.substr(offset, frame.bytes), number, offset)) return std::nullopt;
  return frame;
}

// Whether the invalid frame at `offset` was synced once: a later frame tells.
bool was_durable(std::string_view log, std::uint64_t offset, IdKind kind, std::uint64_t number) {
  std::string magic;
  append_le(magic, kFrameMagic);
  // The magic number may also occur within ids, so every position is tried, and the checksum
  // decides.
  for (std::size_t at = log.find(magic, offset + 1); at != std::string_view::npos;
       at = log.find(magic, at + 1)) {
    const auto frame = frame_at(log, at, kind, number);
    if (frame && frame->durable > offset) return true;
  }
  return false;
}

void visit_ids(const Frame& frame, IdKind kind, const std::function<void(SeenId)>& visit) {
  ByteReader reader(frame.ids);
  for (std::uint32_t i = 0; i < frame.count; ++i) {
    SeenId id;
    id.high = reader.read<std::uint64_t>();
    if (kind == IdKind::kText) id.low = reader.read<std::uint64_t>();
    visit(id);
  }
}

}  // namespace

fs::path log_path(const fs::path& folder, std::uint64_t number) {
  return folder / fmt::format("{:08}.log", number);
}

Result<SeenLogWriter> SeenLogWriter::create(const SeenPlacement& placement, std::uint64_t number,
                                            std::uint64_t sequence) {
  // A crash may have left a log of the same number. It holds no acknowledged id, and is emptied.
  KIN_TRY(auto file, placement.disk->create(log_path(placement.folder, number)));
  SeenLogWriter log(std::move(file), placement.kind, number);
  log.sequence_ = sequence;
  KIN_RETURN_IF_ERROR(log.file_->append(header(placement.kind, number, sequence)));
  log.bytes_ = kSeenLogHeaderBytes;
  KIN_RETURN_IF_ERROR(log.sync());
  // The name of a log must be durable before it takes ids.
  KIN_RETURN_IF_ERROR(placement.disk->sync_folder(placement.folder));
  return log;
}

Result<SeenLogWriter> SeenLogWriter::reopen(const SeenPlacement& placement,
                                            const SeenLogExpectation& expected,
                                            const SeenLogContents& contents) {
  Disk& disk = *placement.disk;
  const fs::path path = log_path(placement.folder, expected.number);
  // The bytes that were read may not be on the device, and after a failed sync no later one writes
  // them. So bytes that are not known to be durable are written again.
  if (contents.length > expected.durable_bytes || contents.dropped_bytes > 0) {
    KIN_TRY(std::string bytes, read_whole(disk, path));
    bytes.resize(contents.length);
    KIN_RETURN_IF_ERROR(replace_whole(disk, path, bytes));
  }
  KIN_TRY(auto file, disk.open_to_write(path));
  SeenLogWriter log(std::move(file), placement.kind, expected.number);
  log.sequence_ = expected.sequence + contents.ids;
  log.bytes_ = contents.length;
  log.durable_ = contents.length;
  return log;
}

Status SeenLogWriter::add(SeenId id) {
  // The header is filled in when the frame is full.
  if (frame_.empty()) frame_.assign(kFrameHeaderBytes, '\0');
  append_le(frame_, id.high);
  if (kind_ == IdKind::kText) append_le(frame_, id.low);
  if (++count_ < kMostIds) return Done{};
  return write();
}

Status SeenLogWriter::write() {
  if (frame_.empty()) return Done{};
  char* bytes = frame_.data();
  store_le(bytes, kFrameMagic);
  store_le(bytes + 4, count_);
  store_le(bytes + 8, sequence_);
  // Tells a reader that everything before this offset was synced. Damage there is a loss, not a
  // torn write.
  store_le(bytes + 16, durable_);
  store_le(bytes + kFrameChecksum, frame_checksum(frame_, number_, bytes_));
  KIN_RETURN_IF_ERROR(file_->append(frame_));
  bytes_ += frame_.size();
  // A seal is a frame too, and has no ids.
  if (count_ != kSealed) sequence_ += count_;
  frame_.clear();
  count_ = 0;
  return Done{};
}

Status SeenLogWriter::sync() {
  KIN_RETURN_IF_ERROR(write());
  // Nothing new, so no sync is needed.
  if (durable_ == bytes_) return Done{};
  KIN_RETURN_IF_ERROR(file_->sync());
  durable_ = bytes_;
  return Done{};
}

Status SeenLogWriter::seal() {
  // All ids are durable before the seal says that there are no more.
  KIN_RETURN_IF_ERROR(sync());
  frame_.assign(kFrameHeaderBytes, '\0');
  count_ = kSealed;
  return sync();
}

Result<SeenLogContents> decode_log(std::string_view bytes, IdKind kind,
                                   const SeenLogExpectation& expected,
                                   const std::function<void(SeenId)>& visit) {
  const std::string wanted = header(kind, expected.number, expected.sequence);
  // The header follows from the manifest, so it is compared and not decoded.
  if (bytes.substr(0, kSeenLogHeaderBytes) != wanted) {
    return Error{expected.durable_bytes > 0 ? Code::kDataLoss : Code::kNotFound,
                 "its header is wrong"};
  }
  SeenLogContents contents{.length = kSeenLogHeaderBytes};
  // Stops at the first invalid frame; the bytes after it are judged below.
  while (contents.length < bytes.size() && !contents.sealed) {
    const auto frame = frame_at(bytes, contents.length, kind, expected.number);
    if (!frame) break;
    if (frame->sequence != expected.sequence + contents.ids) {
      return Error{Code::kDataLoss, fmt::format("ids are missing before byte {}", contents.length)};
    }
    contents.sealed = frame->count == kSealed;
    if (!contents.sealed) {
      visit_ids(*frame, kind, visit);
      contents.ids += frame->count;
    }
    contents.length += frame->bytes;
  }
  // A torn end is normal after a power cut. It is damage if the manifest or a later frame says that
  // these bytes were on the device.
  contents.dropped_bytes = bytes.size() - contents.length;
  if (contents.length < expected.durable_bytes ||
      was_durable(bytes, contents.length, kind, expected.number)) {
    return Error{Code::kDataLoss, fmt::format("the frame at byte {} is damaged", contents.length)};
  }
  return contents;
}

Result<SeenLogContents> replay_log(const SeenPlacement& placement,
                                   const SeenLogExpectation& expected,
                                   const std::function<void(SeenId)>& visit) {
  const fs::path path = log_path(placement.folder, expected.number);
  KIN_TRY(const std::string bytes, read_whole(*placement.disk, path));
  auto contents = decode_log(bytes, placement.kind, expected, visit);
  if (contents) return contents;
  return Error{contents.error().code,
               fmt::format("{} is damaged: {}", path.string(), contents.error().message)};
}

}  // namespace kin::store
