#include "kv/log/format.h"

#include <fmt/format.h>

#include <optional>

#include "base/bytes.h"
#include "base/hash.h"

namespace kin::kv {
namespace {

// Header: magic, version u32, families u32, then per family length u32 and name; checksum u64.
// Frame: magic u32, payload length u32 (kSeal: a seal, without payload), bytes of the file that
// were durable when the frame was made u64, checksum u64, payload.
constexpr std::string_view kMagic = "KINKVLOG";
constexpr std::uint32_t kVersion = 1;
constexpr std::uint32_t kFrameMagic = 0x3146564bU;  // "KVF1"
constexpr std::size_t kFrameChecksum = 16;
constexpr std::size_t kFrameHeaderBytes = 24;
constexpr std::uint32_t kSeal = 0xFFFFFFFFU;

Error damaged(std::string what) {
  return {Code::kDataLoss, std::move(what)};
}

void append_text(std::string& out, std::string_view text) {
  append_le(out, static_cast<std::uint32_t>(text.size()));
  out += text;
}

std::string_view read_text(ByteReader& reader) {
  return reader.read_bytes(reader.read<std::uint32_t>());
}

// Seeded with the offset, so that a copy of a frame inside a value is not taken for a frame.
std::uint64_t frame_checksum(std::string_view head, std::string_view payload,
                             std::uint64_t offset) {
  return hash64(payload, hash64(head.substr(0, kFrameChecksum), mix64(offset + 1)));
}

struct Frame {
  bool seal = false;
  std::uint64_t durable = 0;
  std::string_view payload;
  std::size_t bytes() const { return kFrameHeaderBytes + payload.size(); }
};

// The frame at `offset`, if there is one and its checksum holds.
std::optional<Frame> frame_at(std::string_view log, std::uint64_t offset) {
  ByteReader reader(log.substr(offset));
  const auto magic = reader.read<std::uint32_t>();
  const auto length = reader.read<std::uint32_t>();
  Frame frame;
  frame.seal = length == kSeal;
  frame.durable = reader.read<std::uint64_t>();
  const auto sum = reader.read<std::uint64_t>();
  if (!frame.seal) frame.payload = reader.read_bytes(length);
  if (!reader.ok() || magic != kFrameMagic) return std::nullopt;
  if (sum != frame_checksum(log.substr(offset), frame.payload, offset)) return std::nullopt;
  return frame;
}

// Whether the broken frame at `offset` was on the device once: a later frame tells. The length of a
// damaged frame cannot be trusted, so later frames are found by their magic number.
bool was_durable(std::string_view log, std::uint64_t offset) {
  std::string magic;
  append_le(magic, kFrameMagic);
  for (std::size_t at = log.find(magic, offset + 1); at != std::string_view::npos;
       at = log.find(magic, at + 1)) {
    const auto frame = frame_at(log, at);
    if (frame && frame->durable > offset) return true;
  }
  return false;
}

Result<std::uint64_t> decode_header(std::string_view bytes, std::vector<std::string>& families) {
  ByteReader reader(bytes);
  if (reader.read_bytes(kMagic.size()) != kMagic) return damaged("it is not a log of a store");
  const auto version = reader.read<std::uint32_t>();
  if (reader.ok() && version != kVersion) {
    return Error{
        Code::kFailedPrecondition,
        fmt::format("it has version {}, and this program reads version {} (use the program "
                    "that wrote it)",
                    version, kVersion)};
  }
  // A count that is too large ends with the bytes: the first read past them fails.
  const auto count = reader.read<std::uint32_t>();
  for (std::uint32_t i = 0; i < count && reader.ok(); ++i) families.emplace_back(read_text(reader));
  const std::size_t body = bytes.size() - reader.rest().size();
  if (reader.read<std::uint64_t>() != checksum(bytes.substr(0, body)) || !reader.ok())
    return damaged("its header is damaged");
  return body + sizeof(std::uint64_t);
}

bool is_kind(std::uint8_t kind) {
  return kind >= static_cast<std::uint8_t>(LogChange::Kind::kPut) &&
         kind <= static_cast<std::uint8_t>(LogChange::Kind::kRemoveRange);
}

}  // namespace

void append_change(std::string& payload, const LogChange& change) {
  payload += static_cast<char>(change.kind);
  append_le(payload, change.family);
  append_text(payload, change.key);
  if (change.kind != LogChange::Kind::kRemove) append_text(payload, change.value);
}

Status visit_changes(std::string_view payload, std::size_t families, const VisitChange& visit) {
  ByteReader reader(payload);
  while (reader.ok() && !reader.rest().empty()) {
    LogChange change;
    // The kind decides which fields follow; that it is a valid one is checked after them.
    const auto kind = reader.read<std::uint8_t>();
    change.kind = static_cast<LogChange::Kind>(kind);
    change.family = reader.read<std::uint32_t>();
    change.key = read_text(reader);
    if (change.kind != LogChange::Kind::kRemove) change.value = read_text(reader);
    if (!reader.ok() || !is_kind(kind) || change.family >= families)
      return damaged("a batch in it is malformed");
    visit(change);
  }
  return Done{};
}

Result<LogWriter> LogWriter::create(std::unique_ptr<DiskFile> file,
                                    const std::vector<std::string>& families) {
  std::string header(kMagic);
  append_le(header, kVersion);
  append_le(header, static_cast<std::uint32_t>(families.size()));
  for (const std::string& name : families) append_text(header, name);
  append_le(header, checksum(header));
  KIN_RETURN_IF_ERROR(file->append(header));
  LogWriter writer(std::move(file), header.size());
  return writer;
}

Status LogWriter::append_frame(std::uint32_t length, std::string_view payload) {
  std::string frame;
  frame.reserve(kFrameHeaderBytes + payload.size());
  append_le(frame, kFrameMagic);
  append_le(frame, length);
  append_le(frame, durable_);
  append_le(frame, frame_checksum(frame, payload, bytes_));
  frame += payload;
  KIN_RETURN_IF_ERROR(file_->append(frame));
  bytes_ += frame.size();
  return Done{};
}

Status LogWriter::append(std::string_view payload) {
  KIN_CHECK(payload.size() <= kMostPayload, "a payload that fits a frame");
  return append_frame(static_cast<std::uint32_t>(payload.size()), payload);
}

Status LogWriter::sync() {
  KIN_RETURN_IF_ERROR(file_->sync());
  durable_ = bytes_;
  return Done{};
}

Status LogWriter::seal() {
  durable_ = bytes_;
  return append_frame(kSeal, {});
}

Status decode_log(std::string_view bytes, const BeginLog& begin, const VisitChange& visit) {
  std::vector<std::string> names;
  KIN_TRY(std::uint64_t at, decode_header(bytes, names));
  const std::size_t families = names.size();  // before `begin` takes the names
  begin(std::move(names));
  // Reads up to the first frame that does not hold: the end that a crash tore off, or damage.
  bool sealed = false;
  while (at < bytes.size()) {
    const auto frame = frame_at(bytes, at);
    if (!frame) break;
    KIN_RETURN_IF_ERROR(visit_changes(frame->payload, families, visit));
    at += frame->bytes();
    sealed = sealed || frame->seal;
  }
  // The file got its name after its first seal was on the device, so a log without one is damaged.
  if (sealed && !was_durable(bytes, at)) return Done{};
  return damaged(fmt::format("it is damaged at byte {}", at));
}

}  // namespace kin::kv
