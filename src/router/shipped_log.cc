#include "router/shipped_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/bytes.h"
#include "base/format_head.h"
#include "base/sized_text.h"
#include "router/log_bytes.h"

namespace kin::router {
namespace {

constexpr FormatHead kHead{.name = "an object of a shipped log", .magic = "KINSLOG1"};
constexpr std::uint32_t kVersion = 1;
constexpr std::uint8_t kPositionVersion = 1;
// Names sort as their numbers do.
constexpr std::size_t kDigits = 20;

bool is_kind(LogObject::Kind kind) {
  return kind >= LogObject::Kind::kBegin && kind <= LogObject::Kind::kSeal;
}

std::string position_name(std::string_view folder, const LogPosition& position) {
  return fmt::format("{}{:020}/{:020}", folder, position.term, position.number);
}

std::optional<std::uint64_t> parse_number(std::string_view digits) {
  std::uint64_t number = 0;
  const auto end = digits.data() + digits.size();
  const auto parsed = std::from_chars(digits.data(), end, number);
  if (digits.size() != kDigits || parsed.ec != std::errc() || parsed.ptr != end) return {};
  return number;
}

}  // namespace

std::string encode(const LogObject& object) {
  std::string out(kHead.magic);
  append_le(out, kVersion);
  append_le(out, static_cast<std::uint8_t>(object.kind));
  append_position(out, object.position);
  append_time(out, object.time);
  append_hash(out, object.writer);
  append_sized(out, object.owner);
  append_le(out, static_cast<std::uint8_t>(object.base ? 1 : 0));
  append_position(out, object.base.value_or(LogPosition{}));
  append_le(out, object.next_term);
  append_le(out, static_cast<std::uint32_t>(object.batches.size()));
  for (const LogBatch& batch : object.batches) {
    append_le(out, static_cast<std::uint8_t>(batch.store));
    append_time(out, batch.time);
    append_sized(out, batch.bytes);
  }
  append_le(out, checksum(out));
  return out;
}

Result<LogObject> decode_log_object(std::string_view bytes) {
  KIN_TRY(auto fields, read_format(kHead, {kVersion}, bytes));
  ByteReader& in = fields.in;
  LogObject object{.kind = static_cast<LogObject::Kind>(in.read<std::uint8_t>())};
  object.position = read_position(in);
  object.time = read_time(in);
  object.writer = read_hash(in);
  object.owner = read_sized(in);
  const auto has_base = in.read<std::uint8_t>();
  const LogPosition base = read_position(in);
  if (has_base == 1) object.base = base;
  object.next_term = in.read<std::uint64_t>();
  const auto count = in.read<std::uint32_t>();
  // A count that is too large ends with the bytes.
  for (std::uint32_t i = 0; i < count && in.ok(); ++i) {
    LogBatch batch{.store = static_cast<LogStore>(in.read<std::uint8_t>())};
    batch.time = read_time(in);
    batch.bytes = read_sized(in);
    if (batch.store != LogStore::kTruth && batch.store != LogStore::kDirectory) return kHead.damaged();
    object.batches.push_back(std::move(batch));
  }
  const bool one_spelling = has_base <= 1 && (object.base || base == LogPosition{});
  if (!in.ok() || !in.rest().empty() || !is_kind(object.kind) || !one_spelling) return kHead.damaged();
  return object;
}

std::string identity_text(const Hash128& identity) {
  return fmt::format("{:016x}{:016x}", identity.high, identity.low);
}

std::optional<Hash128> parse_identity(std::string_view text) {
  Hash128 identity;
  if (text.size() != 32) return {};
  const auto parse = [](std::string_view digits, std::uint64_t& number) {
    const auto parsed =
        std::from_chars(digits.data(), digits.data() + digits.size(), number, 16);
    return parsed.ec == std::errc() && parsed.ptr == digits.data() + digits.size();
  };
  if (!parse(text.substr(0, 16), identity.high) || !parse(text.substr(16), identity.low)) return {};
  if (identity_text(identity) != text) return {};
  return identity;
}

std::string log_prefix(std::string_view index, const Hash128& identity) {
  return fmt::format("{}/{}/", index, identity_text(identity));
}

std::string log_object_name(const LogPosition& position) {
  return position_name(kLogFolder, position);
}

std::string log_term_prefix(std::uint64_t term) {
  return fmt::format("{}{:020}/", kLogFolder, term);
}

std::string snapshot_name(const LogPosition& position) {
  return position_name(kSnapshotFolder, position);
}

std::optional<LogPosition> position_in(std::string_view name) {
  const std::string_view folder = name.starts_with(kLogFolder) ? kLogFolder : kSnapshotFolder;
  if (!name.starts_with(folder)) return {};
  name.remove_prefix(folder.size());
  if (name.size() != 2 * kDigits + 1 || name[kDigits] != '/') return {};
  const auto term = parse_number(name.substr(0, kDigits));
  const auto number = parse_number(name.substr(kDigits + 1));
  if (!term || !number) return {};
  return LogPosition{*term, *number};
}

std::string encode(const LogPosition& position) {
  std::string out(1, static_cast<char>(kPositionVersion));
  append_position(out, position);
  return out;
}

Result<LogPosition> decode_log_position(std::string_view bytes) {
  ByteReader in(bytes);
  const auto version = in.read<std::uint8_t>();
  if (in.ok() && version != kPositionVersion)
    return Error{Code::kFailedPrecondition,
                 "the position of a copy has a version that this program does not read"};
  const LogPosition position = read_position(in);
  if (!in.ok() || !in.rest().empty())
    return Error{Code::kDataLoss, "the position of a copy is damaged"};
  return position;
}

}  // namespace kin::router
