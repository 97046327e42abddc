#include "index/truth/change.h"

#include <fmt/format.h>

#include "index/truth/entity_bytes.h"

namespace kin::index {
namespace {

constexpr char kFormat = 1;
constexpr auto kLastKind = static_cast<std::uint8_t>(ChangeKind::kOwnerAssigned);

// The fields of a row that depend on its kind. Encoder and decoder share it.
struct Fields {
  bool former = false;
  bool edge = false;
  bool time = false;
  bool content = false;
};

constexpr Fields fields_of(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::kEntityPut:
    case ChangeKind::kEntityRemoved:
    case ChangeKind::kOwnerAssigned: return {};
    case ChangeKind::kEntityAssigned: return {.former = true};
    case ChangeKind::kEdgePut:
    case ChangeKind::kEdgeRemoved: return {.edge = true, .time = true};
    case ChangeKind::kEntityFragmentAdded:
    case ChangeKind::kEntityFragmentRemoved: return {.time = true, .content = true};
    case ChangeKind::kEdgeFragmentAdded:
    case ChangeKind::kEdgeFragmentRemoved: return {.edge = true, .time = true, .content = true};
  }
  KIN_UNREACHABLE();
}

}  // namespace

EdgeKey edge_of(const Change& change) {
  return {.from = change.id, .name = change.name, .to = change.to, .since = change.time};
}

FragmentKey fragment_of(const Change& change) {
  return {.id = change.id,
          .name = change.name,
          .to = change.to,
          .time = change.time,
          .content = change.content};
}

std::string encode(const Change& change) {
  const Fields fields = fields_of(change.kind);
  std::string out(1, kFormat);
  out += static_cast<char>(change.kind);
  append_varint(out, static_cast<std::uint32_t>(change.partition));
  append_version(out, change.version);
  append_le(out, static_cast<std::uint32_t>(change.number));
  append_le(out, static_cast<std::uint32_t>(change.retired));
  append_id(out, change.id);
  if (fields.former) append_varint(out, static_cast<std::uint32_t>(change.former));
  if (fields.edge) {
    append_varint(out, static_cast<std::uint32_t>(change.name));
    append_id(out, change.to);
  }
  if (fields.time) append_le(out, change.time);
  if (fields.content) append_le(out, change.content);
  return out;
}

Result<Change> decode_change(Lsn lsn, std::string_view bytes) {
  const Error damaged{Code::kDataLoss, fmt::format("change {} of the changelog is damaged", lsn)};
  RowReader reader(bytes);
  const auto format = reader.read<std::uint8_t>();
  const auto kind = reader.read<std::uint8_t>();
  // The kind decides which fields follow, so it is checked before they are read.
  if (!reader.ok() || format != kFormat || kind > kLastKind) return damaged;
  Change change{.lsn = lsn, .kind = static_cast<ChangeKind>(kind)};
  const Fields fields = fields_of(change.kind);
  change.partition = PartitionId{reader.varint32()};
  change.version = read_version(reader);
  change.number = DocNumber{reader.read<std::uint32_t>()};
  change.retired = DocNumber{reader.read<std::uint32_t>()};
  change.id = read_id(reader);
  if (fields.former) change.former = PartitionId{reader.varint32()};
  if (fields.edge) {
    change.name = NameId{reader.varint32()};
    change.to = read_id(reader);
  }
  if (fields.time) change.time = reader.read<Millis>();
  if (fields.content) change.content = reader.read<std::uint64_t>();
  if (!reader.done()) return damaged;
  return change;
}

}  // namespace kin::index
