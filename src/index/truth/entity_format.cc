#include "index/truth/entity_format.h"

#include <fmt/format.h>

#include "index/truth/entity_bytes.h"

namespace kin::index {
namespace {

constexpr char kFormat = 1;
// Entities with a version of their partition, and tombstones of fragments.
constexpr char kSecondFormat = 2;

Error damaged(std::string_view what) {
  return {Code::kDataLoss, fmt::format("a row of {} is damaged", what)};
}

// The version byte of a row; an error if this program cannot read that version.
Result<char> format_of(std::string_view bytes, std::string_view what, char newest) {
  if (bytes.empty()) return damaged(what);
  if (bytes[0] >= kFormat && bytes[0] <= newest) return bytes[0];
  return Error{Code::kFailedPrecondition,
               fmt::format("a row of {} has version {}, and this program reads up to version {}",
                           what, static_cast<unsigned char>(bytes[0]), int{newest})};
}

// The reader behind the version byte of a row that has one version.
Result<RowReader> open_row(std::string_view bytes, std::string_view what) {
  KIN_TRY([[maybe_unused]] const char format, format_of(bytes, what, kFormat));
  return RowReader(bytes.substr(1));
}

// A row begins with the version of its format.
std::string new_row() {
  return std::string(1, kFormat);
}

void append_hash(std::string& out, const Hash128& hash) {
  append_le(out, hash.high);
  append_le(out, hash.low);
}

// The high half first, as in keys.
Hash128 read_hash(RowReader& reader) {
  Hash128 hash;
  hash.high = reader.read<std::uint64_t>();
  hash.low = reader.read<std::uint64_t>();
  return hash;
}

// Other flags would give one value two spellings.
bool spelt_as_written(const Validity& valid, std::uint8_t flags) {
  return range_flags(valid) == (flags & (kHasFrom | kHasUntil));
}

}  // namespace

std::string encode(const Counters& counters) {
  std::string out = new_row();
  append_varint(out, counters.last_lsn);
  append_varint(out, counters.trimmed);
  append_varint(out, counters.numbers);
  append_varint(out, counters.names);
  append_varint(out, counters.entities);
  append_varint(out, counters.edges);
  append_varint(out, counters.fragments);
  append_le(out, checksum(out));
  return out;
}

Result<Counters> decode_counters(std::string_view bytes) {
  KIN_TRY(RowReader reader, open_row(bytes, "counters"));
  Counters counters;
  counters.last_lsn = reader.varint();
  counters.trimmed = reader.varint();
  counters.numbers = reader.varint32();
  counters.names = reader.varint32();
  counters.entities = reader.varint();
  counters.edges = reader.varint();
  counters.fragments = reader.varint();
  // The one row that every batch writes: damage would give numbers out twice, so it has a checksum.
  const std::string_view before = bytes.substr(0, bytes.size() - reader.rest().size());
  const auto sum = reader.read<std::uint64_t>();
  if (!reader.done() || sum != checksum(before) || counters.trimmed > counters.last_lsn)
    return damaged("counters");
  return counters;
}

std::string encode(const HeadRow& row) {
  // Most entities never move: then both versions are the same, and one is written.
  const bool moved = row.head.assigned != row.head.version;
  std::string out(1, kSecondFormat);
  std::uint8_t flags = row.deleted ? std::uint8_t{kDeleted} : range_flags(row.head.valid);
  if (moved) flags |= kHasAssigned;
  out += static_cast<char>(flags);
  append_varint(out, static_cast<std::uint32_t>(row.head.partition));
  append_version(out, row.head.version);
  if (moved) append_version(out, row.head.assigned);
  if (row.deleted) return out;
  append_le(out, static_cast<std::uint32_t>(row.head.number));
  append_range(out, row.head.valid);
  append_varint(out, static_cast<std::uint32_t>(row.source));
  append_varint(out, row.spaces.size());
  for (const NameId space : row.spaces) append_varint(out, static_cast<std::uint32_t>(space));
  append_varint(out, row.summaries.size());
  for (const Hash128& hash : row.summaries) append_hash(out, hash);
  return out;
}

// The first version has no version of the partition, and says since when the entity exists.
Result<HeadRow> decode_head(std::string_view bytes) {
  KIN_TRY(const char format, format_of(bytes, "entities", kSecondFormat));
  RowReader reader(bytes.substr(1));
  HeadRow row;
  const auto flags = reader.read<std::uint8_t>();
  row.deleted = (flags & kDeleted) != 0;
  row.head.partition = PartitionId{reader.varint32()};
  row.head.version = row.head.assigned = read_version(reader);
  const bool moved = format == kSecondFormat && (flags & kHasAssigned) != 0;
  if (moved) row.head.assigned = read_version(reader);
  // The flags without the one for the second version must be those that an encoder writes.
  const std::uint8_t rest = flags & static_cast<std::uint8_t>(moved ? ~kHasAssigned : ~0);
  // An encoder leaves out the second of two equal versions.
  if (moved && row.head.assigned == row.head.version) return damaged("entities");
  if (row.deleted) {
    if (rest != kDeleted || !reader.done()) return damaged("entities");
    return row;
  }
  row.head.number = DocNumber{reader.read<std::uint32_t>()};
  if (format == kFormat) read_version(reader);  // since when it exists, which is not used any more
  row.head.valid = read_range(reader, flags);
  row.source = NameId{reader.varint32()};
  row.spaces.resize(reader.count());
  for (NameId& space : row.spaces) space = NameId{reader.varint32()};
  row.summaries.resize(reader.count());
  for (Hash128& hash : row.summaries) hash = read_hash(reader);
  if (!reader.done() || rest != range_flags(row.head.valid)) return damaged("entities");
  return row;
}

std::string encode(const ContentRow& row) {
  std::string out = new_row();
  // Texts are long: one allocation instead of several. 64 bytes for lengths, tags and attributes.
  out.reserve(row.text.size() + row.title.size() + row.key.size() + 64);
  append_text(out, row.key);
  append_text(out, row.title);
  append_text(out, row.text);
  append_varint(out, row.tags.size());
  for (const std::string& tag : row.tags) append_text(out, tag);
  append_varint(out, row.attributes.size());
  for (const AttributeRow& attribute : row.attributes) {
    append_varint(out, static_cast<std::uint32_t>(attribute.name));
    append_value(out, attribute.value);
  }
  return out;
}

Result<ContentRow> decode_content(std::string_view bytes) {
  KIN_TRY(RowReader reader, open_row(bytes, "contents"));
  ContentRow row;
  row.key = reader.text();
  row.title = reader.text();
  row.text = reader.text();
  row.tags.resize(reader.count());
  for (std::string& tag : row.tags) tag = reader.text();
  row.attributes.resize(reader.count());
  for (AttributeRow& attribute : row.attributes) {
    attribute.name = NameId{reader.varint32()};
    std::optional<AttributeValue> value = read_value(reader);
    if (!value) return damaged("contents");
    attribute.value = std::move(*value);
  }
  if (!reader.done()) return damaged("contents");
  return row;
}

std::string encode(const EdgeRow& row) {
  // The beginning of an edge is in its key, so the period in its row is open at the front.
  const Validity open{.until = row.until};
  std::string out = new_row();
  if (row.deleted) {
    out += static_cast<char>(kDeleted);
    append_version(out, row.version);
    return out;
  }
  out += static_cast<char>(range_flags(open) | (row.summary ? kHasSummary : 0));
  append_version(out, row.version);
  append_le(out, row.weight);
  append_range(out, open);
  if (!row.summary) return out;
  append_le(out, static_cast<std::uint32_t>(row.number));
  append_hash(out, *row.summary);
  return out;
}

Result<EdgeRow> decode_edge(std::string_view bytes) {
  KIN_TRY(RowReader reader, open_row(bytes, "forward_edges"));
  EdgeRow row;
  const auto flags = reader.read<std::uint8_t>();
  row.deleted = (flags & kDeleted) != 0;
  row.version = read_version(reader);
  if (row.deleted) {
    if (flags != kDeleted || !reader.done()) return damaged("forward_edges");
    return row;
  }
  row.weight = reader.read<double>();
  const Validity open = read_range(reader, flags);
  row.until = open.until;
  // Only an edge with a summary is a document.
  if ((flags & kHasSummary) != 0) {
    row.number = DocNumber{reader.read<std::uint32_t>()};
    row.summary = read_hash(reader);
  }
  const bool spelt = (flags & ~(kHasUntil | kHasSummary)) == 0 && spelt_as_written(open, flags);
  if (!reader.done() || !spelt) return damaged("forward_edges");
  return row;
}

std::string encode(const ReverseRow& row) {
  const Validity open{.until = row.until};
  std::string out = new_row();
  out += static_cast<char>(range_flags(open));
  append_le(out, row.weight);
  append_range(out, open);
  return out;
}

Result<ReverseRow> decode_reverse(std::string_view bytes) {
  KIN_TRY(RowReader reader, open_row(bytes, "reverse_edges"));
  ReverseRow row;
  const auto flags = reader.read<std::uint8_t>();
  row.weight = reader.read<double>();
  const Validity open = read_range(reader, flags);
  row.until = open.until;
  if (!reader.done() || (flags & ~kHasUntil) != 0 || !spelt_as_written(open, flags))
    return damaged("reverse_edges");
  return row;
}

std::string encode(const FragmentRow& row) {
  // The first version had no tombstones of fragments, so the version distinguishes them.
  std::string out(1, row.deleted ? kSecondFormat : kFormat);
  append_version(out, row.version);
  if (row.deleted) return out;
  append_le(out, static_cast<std::uint32_t>(row.number));
  out.append(row.text);
  return out;
}

Result<FragmentRow> decode_fragment(std::string_view bytes) {
  KIN_TRY(const char format, format_of(bytes, "fragments", kSecondFormat));
  RowReader reader(bytes.substr(1));
  FragmentRow row{.deleted = format == kSecondFormat};
  row.version = read_version(reader);
  if (row.deleted) {
    if (!reader.done()) return damaged("fragments");
    return row;
  }
  row.number = DocNumber{reader.read<std::uint32_t>()};
  if (!reader.ok()) return damaged("fragments");
  row.text = reader.rest();  // the text needs no length: it goes to the end of the row
  return row;
}

std::string encode(const DocumentRow& row) {
  std::string out = new_row();
  out += static_cast<char>(row.kind);
  out.append(row.key);
  return out;
}

Result<DocumentRow> decode_document(std::string_view bytes) {
  KIN_TRY(RowReader reader, open_row(bytes, "documents"));
  const auto kind = reader.read<std::uint8_t>();
  const std::string_view key = reader.rest();
  // Readers take the key apart without a check.
  const auto has_key = [&] {
    switch (static_cast<DocKind>(kind)) {
      case DocKind::kEntity: return decode_entity_key(key).has_value();
      case DocKind::kEdge: return decode_forward_key(key).has_value();
      case DocKind::kEntityFragment:
        return decode_fragment_key(kEntityFragmentsFamily, key).has_value();
      case DocKind::kEdgeFragment:
        return decode_fragment_key(kEdgeFragmentsFamily, key).has_value();
    }
    return false;
  };
  if (!reader.ok() || !has_key()) return damaged("documents");
  return DocumentRow{.kind = static_cast<DocKind>(kind), .key = std::string(key)};
}

std::string encode_vector(std::span<const float> values) {
  std::string out = new_row();
  out.append(as_bytes_view(values));
  return out;
}

Result<std::vector<float>> decode_vector(std::string_view bytes) {
  KIN_TRY(const RowReader reader, open_row(bytes, "vectors"));
  auto values = to_vector(reader.rest());
  if (!values) return damaged("vectors");
  return std::move(*values);
}

std::string encode(const Ownership& owner) {
  std::string out = new_row();
  append_varint(out, owner.epoch);
  out += static_cast<char>(owner.owned ? 1 : 0);
  return out;
}

Result<Ownership> decode_owner(std::string_view bytes) {
  KIN_TRY(RowReader reader, open_row(bytes, "owners"));
  Ownership owner{.epoch = reader.varint()};
  const auto owned = reader.read<std::uint8_t>();
  if (!reader.done() || owned > 1) return damaged("owners");
  owner.owned = owned == 1;
  return owner;
}

std::string encode_follower(Lsn applied) {
  std::string out = new_row();
  append_varint(out, applied);
  return out;
}

Result<Lsn> decode_follower(std::string_view bytes) {
  KIN_TRY(RowReader reader, open_row(bytes, "followers"));
  const Lsn applied = reader.varint();
  if (!reader.done()) return damaged("followers");
  return applied;
}

std::string encode_session(std::uint64_t sequence) {
  std::string out = new_row();
  append_varint(out, sequence);
  return out;
}

Result<std::uint64_t> decode_session(std::string_view bytes) {
  KIN_TRY(RowReader reader, open_row(bytes, "sessions"));
  const std::uint64_t sequence = reader.varint();
  if (!reader.done()) return damaged("sessions");
  return sequence;
}

std::string encode_name(std::string_view name) {
  return new_row().append(name);
}

Result<std::string> decode_name(std::string_view bytes) {
  KIN_TRY(const RowReader reader, open_row(bytes, "names"));
  return std::string(reader.rest());
}

std::string encode_summary_text(std::string_view text) {
  return new_row().append(text);
}

Result<std::string> decode_summary_text(std::string_view bytes) {
  KIN_TRY(const RowReader reader, open_row(bytes, "summaries"));
  return std::string(reader.rest());
}

std::string encode_summary_count(std::uint64_t count) {
  std::string out = new_row();
  append_varint(out, count);
  return out;
}

Result<std::uint64_t> decode_summary_count(std::string_view bytes) {
  KIN_TRY(RowReader reader, open_row(bytes, "summaries"));
  const std::uint64_t count = reader.varint();
  // A summary without references is removed, so no count is 0.
  if (!reader.done() || count == 0) return damaged("summaries");
  return count;
}

}  // namespace kin::index
